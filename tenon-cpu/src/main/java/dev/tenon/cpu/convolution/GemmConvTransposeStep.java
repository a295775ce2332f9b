package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Node;
import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Start;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.MemorySegment;

/**
 * Transposed convolution of f32 as matrix products: the weights [channels out and cells, channels in] by the input
 * [channels in, positions] give what each input element adds to the cells of its window. A unit is a block of output
 * channels, which it alone writes.
 */
final class GemmConvTransposeStep extends LoopStep {
    private static final int DEPTH = 256;
    private static final int COLUMNS = 128;
    /** Rows of products in workspace at a time, about. */
    private static final int ROWS = 128;

    private final ConvShape shape;
    private final ConvEpilogue epilogue;
    private final Loops loops = Loops.current();
    private final int channels;
    /** The input as it is: each row a channel, each column a position. */
    private final Im2col windows;

    private final int input;
    private final int weights;
    private final MemorySegment prepared;
    private final int output;

    GemmConvTransposeStep(ConvShape shape, ConvEpilogue epilogue, Node node, CpuLoweringContext context) {
        int cells = shape.windows().cells();
        int channels = Math.max(1, Math.min(ROWS / cells, Math.ceilDiv(shape.channelsOut(), context.threads())));
        boolean empty = shape.windows().inputArea() == 0;
        super(
                "gemm, " + Loops.current().tier(),
                empty ? 0 : shape.batch() * shape.groups() * Math.ceilDiv(shape.channelsOut(), channels),
                shape.windows().outputArea() * channels * cells * (1 + shape.channelsIn() / 16));
        this.shape = shape;
        this.epilogue = epilogue;
        this.channels = channels;
        this.windows = new Im2col(shape.windows().positions());
        this.input = context.slot(node.input(0));
        this.weights = context.slot(node.input(1));
        this.output = context.slot(node.output());
        this.prepared = node.input(1).constant() instanceof ConstantData.Dense dense
                ? context.prepared(
                        dense,
                        "conv_transpose rows, " + shape.groups() + " groups",
                        _ -> new CpuLoweringContext.Prepared(
                                dense.segment().byteSize(), to -> transpose(dense.segment(), to, 0, 0, allRows())))
                : MemorySegment.NULL;
    }

    private long allRows() {
        return (long) shape.groups() * rowsInGroup();
    }

    private int rowsInGroup() {
        return shape.channelsOut() * shape.windows().cells();
    }

    /** Turns the weights of each group around, so that a row has what one output cell takes from all input channels. */
    private void transpose(MemorySegment from, MemorySegment to, long toByte, long first, long rows) {
        int in = shape.channelsIn();
        int inGroup = rowsInGroup();
        for (long row = 0; row < rows; row++) {
            long group = (first + row) / inGroup;
            long column = (first + row) % inGroup;
            for (int c = 0; c < in; c++) {
                float value = from.get(Raw.F32, ((group * in + c) * inGroup + column) * 4);
                to.set(Raw.F32, toByte + (row * in + c) * 4, value);
            }
        }
    }

    @Override
    public long workspaceBytes() {
        long own = prepared.byteSize() == 0 ? 4L * channels * shape.windows().cells() * shape.channelsIn() : 0;
        return weightsOffset() + own;
    }

    private long productsOffset() {
        return 4L * DEPTH * COLUMNS;
    }

    private long edgeOffset() {
        return productsOffset() + 4L * channels * shape.windows().cells() * COLUMNS;
    }

    private long weightsOffset() {
        return edgeOffset() + Gemm.EDGE_BYTES;
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        int blocks = Math.ceilDiv(shape.channelsOut(), channels);
        for (long unit = from; unit < to; unit++) {
            block(frame, unit / blocks, (int) (unit % blocks) * channels, frame.workspace(worker));
        }
    }

    private void block(CpuFrame frame, long product, int first, MemorySegment workspace) {
        MemorySegment target = frame.at(output);
        long areaOut = shape.windows().inputArea();
        long areaIn = shape.windows().outputArea();
        int count = Math.min(channels, shape.channelsOut() - first);
        long group = product % shape.groups();
        long y = (product * shape.channelsOut() + first) * areaOut;
        for (int c = 0; c < count; c++) {
            float start = epilogue.start(frame, group * shape.channelsOut() + first + c);
            for (long at = 0; at < areaOut; at += Integer.MAX_VALUE) {
                int part = (int) Math.min(Integer.MAX_VALUE, areaOut - at);
                loops.fill(target, (y + c * areaOut + at) * 4, start, part);
            }
        }
        long firstRow = group * rowsInGroup() + (long) first * shape.windows().cells();
        MemorySegment rows = prepared;
        long rowsOffset = firstRow * shape.channelsIn() * 4;
        if (prepared.byteSize() == 0) {
            rows = workspace;
            rowsOffset = weightsOffset();
            transpose(
                    frame.at(weights),
                    workspace,
                    rowsOffset,
                    firstRow,
                    (long) count * shape.windows().cells());
        }
        for (long column = 0; column < areaIn; column += COLUMNS) {
            int columns = (int) Math.min(COLUMNS, areaIn - column);
            multiply(frame, product, column, columns, rows, rowsOffset, count, workspace);
            for (int c = 0; c < count; c++) {
                scatter(workspace, c, column, columns, target, y + c * areaOut);
            }
        }
        for (int c = 0; c < count; c++) {
            for (long at = 0; at < areaOut; at += Integer.MAX_VALUE) {
                int part = (int) Math.min(Integer.MAX_VALUE, areaOut - at);
                epilogue.finish(frame, loops, target, y + c * areaOut + at, part);
            }
        }
    }

    private void multiply(
            CpuFrame frame,
            long product,
            long column,
            int columns,
            MemorySegment rows,
            long rowsOffset,
            int count,
            MemorySegment workspace) {
        MemorySegment source = frame.at(input);
        long areaIn = shape.windows().outputArea();
        int in = shape.channelsIn();
        int m = count * shape.windows().cells();
        int from = 0;
        do {
            int depth = Math.min(DEPTH, in - from);
            Im2col.Block block = new Im2col.Block(from, depth, column, columns);
            windows.pack(source, product * in * areaIn, block, workspace, 0, workspace, 0);
            int n = Math.ceilDiv(columns, Gemm.NR) * Gemm.NR; // what is past the last column is never read
            loops.product(
                    new Gemm.Size(m, n, depth),
                    new Matrix(rows, rowsOffset + 4L * from, 4L * in),
                    new Matrix(workspace, 0, 4L * Gemm.NR * depth),
                    new Matrix(workspace, productsOffset(), 4L * COLUMNS),
                    from == 0 ? Start.ZERO : Start.RESULT,
                    new Place(workspace, edgeOffset()));
            from += depth;
        } while (from < in);
    }

    /** Adds the products of one output channel to the cells of the windows they belong to. */
    private void scatter(MemorySegment workspace, int c, long column, int columns, MemorySegment target, long plane) {
        Windows3.Axis depth = shape.windows().depth();
        Windows3.Axis height = shape.windows().height();
        Windows3.Axis width = shape.windows().width();
        int cells = shape.windows().cells();
        for (int cell = 0; cell < cells; cell++) {
            long from = productsOffset() + 4L * (c * cells + cell) * COLUMNS;
            int cellW = cell % width.kernel();
            int cellH = cell / width.kernel() % height.kernel();
            int cellD = cell / width.kernel() / height.kernel();
            int firstW = width.firstPosition(cellW);
            int lastW = width.lastPosition(cellW);
            int position = (int) (column % width.output());
            long line = column / width.output();
            int done = 0;
            while (done < columns) {
                int count = Math.min(columns - done, width.output() - position);
                int atH = height.start((int) (line % height.output())) + cellH * height.dilation();
                int atD = depth.start((int) (line / height.output())) + cellD * depth.dilation();
                if (atH >= 0 && atH < height.input() && atD >= 0 && atD < depth.input()) {
                    int begin = Math.clamp(firstW, position, position + count);
                    int end = Math.clamp(lastW, begin, position + count);
                    long to = plane
                            + ((long) atD * height.input() + atH) * width.input()
                            + (long) cellW * width.dilation()
                            - width.before();
                    for (int w = begin; w < end; w++) {
                        long at = (to + (long) w * width.stride()) * 4;
                        float value = workspace.get(Raw.F32, from + 4L * (done + w - position));
                        target.set(Raw.F32, at, target.get(Raw.F32, at) + value);
                    }
                }
                done += count;
                position = 0;
                line++;
            }
        }
    }
}
