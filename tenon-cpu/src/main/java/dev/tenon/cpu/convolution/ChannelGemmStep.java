package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Node;
import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Start;
import dev.tenon.cpu.matmul.CpuMatMulLowering;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/**
 * Convolution of f32 whose channels lie side by side, as matrix products: windows [positions, depth] by the weights
 * [depth, channels out], which are packed once for the model. A block of the windows lies in workspace at a time;
 * windows of single cells are read where they lie. A unit is a block of positions by a block of channels, of
 * all groups where there are several. For several threads small weights are read by more blocks of positions: an
 * epilogue goes over their whole rows at once.
 */
final class ChannelGemmStep extends LoopStep {
    /** The depth of a pass: a panel of the weights is then some 100 KiB, which the second-level cache keeps. */
    private static final int DEPTH = 768;

    /** Of a block of windows, a quarter of that cache. */
    private static final long BYTES = 256 << 10;

    private static final int MOST_ROWS = 240;

    /** Rows of a tile of the product. */
    private static final int TILE = 12;

    private final ConvShape shape;
    private final ConvEpilogue epilogue;
    private final Blocks blocks;
    private final WindowRows windows;
    private final Loops loops = Loops.current();
    private final int input;
    private final int output;
    private final MemorySegment weights;

    /**
     * How the output is cut.
     *
     * @param cells of a pass
     */
    private record Blocks(int rows, long rowBlocks, int columns, long columnBlocks, int cells) {
        static Blocks of(ConvShape shape, int threads) {
            int across = shape.windows().width().kernel();
            int cells =
                    Math.clamp(DEPTH / shape.channelsIn(), 1, shape.windows().cells());
            cells = cells > across ? cells / across * across : cells;
            long area = Math.max(1, shape.windows().outputArea());
            long most = BYTES / (4L * cells * shape.channelsIn()) / TILE * TILE;
            long wanted = threads == 1 ? 1 : 2L * threads;
            long rowBlocks = Math.ceilDiv(area, Math.clamp(most, TILE, MOST_ROWS));
            boolean small = 4L * shape.depth() * shape.channelsOut() <= BYTES;
            if ((shape.groups() > 1 || small) && threads > 1) {
                long pieces = shape.groups() > 1 ? 2 * wanted : wanted; // those of groups are not cut by columns
                long even = Math.ceilDiv(pieces, Math.max(1, shape.batch()));
                rowBlocks = Math.max(rowBlocks, Math.min(even, Math.ceilDiv(area, TILE)));
            }
            int rows = rows(area, rowBlocks);
            int panels = Math.ceilDiv(shape.channelsOut(), Gemm.NR);
            long columnBlocks = shape.groups() > 1
                    ? 1
                    : Math.clamp(Math.ceilDiv(wanted, Math.max(1, shape.batch() * rowBlocks)), 1, panels);
            int columns = (int) Math.ceilDiv(panels, columnBlocks) * Gemm.NR;
            return new Blocks(
                    rows, Math.ceilDiv(area, rows), columns, Math.ceilDiv((long) shape.channelsOut(), columns), cells);
        }

        private static int rows(long area, long blocks) {
            long even = Math.ceilDiv(area, blocks);
            return (int) (blocks == 1 ? even : Math.ceilDiv(even, TILE) * TILE);
        }
    }

    ChannelGemmStep(
            ConvShape shape, ConvEpilogue epilogue, ConstantData weights, Node node, CpuLoweringContext context) {
        Blocks blocks = Blocks.of(shape, context.threads());
        boolean empty = shape.windows().outputArea() == 0;
        super(
                "gemm of channels, " + Loops.current().tier()
                        + (shape.windows().isPointwise() ? "" : ", windows by blocks"),
                empty ? 0 : shape.batch() * blocks.rowBlocks() * blocks.columnBlocks(),
                shape.groups() * shape.depth() * blocks.rows() * Math.min(blocks.columns(), shape.channelsOut()) / 16);
        this.shape = shape;
        this.epilogue = epilogue;
        this.blocks = blocks;
        this.windows = new WindowRows(shape.windows(), shape.groups() * shape.channelsIn(), shape.channelsIn());
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.output());
        this.weights =
                CpuMatMulLowering.panels(weights, shape.groups(), (int) shape.depth(), shape.channelsOut(), context);
    }

    @Override
    public long workspaceBytes() {
        return edgeOffset() + Gemm.EDGE_BYTES;
    }

    private long edgeOffset() {
        return shape.windows().isPointwise() ? 0 : 4L * blocks.rows() * blocks.cells() * shape.channelsIn();
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        long area = shape.windows().outputArea();
        long width = (long) shape.groups() * shape.channelsOut();
        MemorySegment target = frame.at(output);
        for (long unit = from; unit < to; unit++) {
            int column = (int) (unit % blocks.columnBlocks()) * blocks.columns();
            long rest = unit / blocks.columnBlocks();
            long row = rest % blocks.rowBlocks() * blocks.rows();
            Unit place = new Unit(
                    rest / blocks.rowBlocks(),
                    row,
                    (int) Math.min(blocks.rows(), area - row),
                    column,
                    Math.min(blocks.columns(), shape.channelsOut() - column));
            for (int group = 0; group < shape.groups(); group++) {
                products(frame, place, group, frame.workspace(worker));
            }
            long first = (place.image * area + row) * width + column;
            boolean whole = blocks.columnBlocks() == 1;
            for (int span = 0; span < (whole ? 1 : place.rows); span++) {
                int count = whole ? place.rows * (int) width : place.columns;
                epilogue.finish(frame, loops, target, first + span * width, count);
            }
        }
    }

    /** Some rows and, of each group, some columns of an image's result. */
    private record Unit(long image, long row, int rows, int column, int columns) {}

    private void products(CpuFrame frame, Unit unit, int group, MemorySegment workspace) {
        int part = shape.channelsIn();
        long width = (long) shape.groups() * shape.channelsOut();
        long channel = (long) group * shape.channelsOut() + unit.column;
        long first = (unit.image * shape.windows().outputArea() + unit.row) * width + channel;
        Matrix sums = new Matrix(frame.at(output), 4 * first, 4 * width);
        Place bias = epilogue.biases(frame);
        Start start = bias.isNone() ? Start.ZERO : Start.bias(bias.memory(), bias.offset() + 4 * channel);
        long panel = 4L * Gemm.NR * shape.depth();
        long panels = group * Gemm.packedBytes(shape.depth(), shape.channelsOut()) + unit.column / Gemm.NR * panel;
        int cells = shape.windows().cells();
        for (int cell = 0; cell < cells; cell += blocks.cells()) {
            int count = Math.min(blocks.cells(), cells - cell);
            WindowRows.Block block = new WindowRows.Block(unit.row, unit.rows, cell, count);
            loops.product(
                    new Gemm.Size(unit.rows, unit.columns, count * part),
                    left(frame, unit.image, group, block, workspace),
                    new Matrix(weights, panels + 4L * Gemm.NR * cell * part, panel),
                    sums,
                    cell == 0 ? start : Start.RESULT,
                    new Place(workspace, edgeOffset()));
        }
    }

    private Matrix left(CpuFrame frame, long image, int group, WindowRows.Block block, MemorySegment workspace) {
        int part = shape.channelsIn();
        long pixel = (long) shape.groups() * part;
        long x = image * shape.windows().inputArea() * pixel + (long) group * part;
        if (shape.windows().isPointwise()) {
            return new Matrix(frame.at(input), 4 * (x + block.row() * pixel), 4 * pixel);
        }
        windows.pack(frame.at(input), x, block, workspace);
        return new Matrix(workspace, 0, 4L * block.cells() * part);
    }
}
