package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.Node;
import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Start;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Convolution of f32 as matrix products: the weights [channels out, depth] by the input's windows [depth, positions], a
 * block of which lies in workspace at a time. A unit is a block of channels of a block of positions.
 */
final class GemmConvStep extends LoopStep {
    /** Rows of a block: with one panel of 32 columns it takes two thirds of a first-level cache. */
    private static final int DEPTH = 256;

    /** Fewer columns than this would read the weights too often, fewer channels make the windows too often. */
    private static final int LEAST_COLUMNS = 64;

    private static final int LEAST_CHANNELS = 32;

    private final ConvShape shape;
    private final ConvEpilogue epilogue;
    private final Blocks blocks;
    private final Im2col windows;
    private final Loops loops = Loops.current();
    private final int input;
    private final Filters weights;
    private final int output;
    private final @Nullable Mending mending;

    /** How the output is cut. */
    private record Blocks(int columns, int channels, long columnBlocks, long channelBlocks) {
        static Blocks of(ConvShape shape, int threads) {
            long area = Math.max(1, shape.windows().outputArea());
            long wanted = 2L * threads;
            long products = Math.max(1, shape.batch() * shape.groups());
            long most = Math.ceilDiv(area, LEAST_COLUMNS);
            long columnBlocks = Math.clamp(
                    Math.ceilDiv(wanted, products),
                    Math.ceilDiv(area, Im2col.MOST_COLUMNS),
                    Math.max(most, Math.ceilDiv(area, Im2col.MOST_COLUMNS)));
            int columns = (int) (Math.ceilDiv(Math.ceilDiv(area, columnBlocks), Gemm.NR) * Gemm.NR);
            columnBlocks = Math.ceilDiv(area, columns);
            long channelBlocks = threads == 1
                    ? 1
                    : Math.clamp(
                            Math.ceilDiv(wanted, products * columnBlocks),
                            1,
                            Math.max(1, shape.channelsOut() / LEAST_CHANNELS));
            int channels = Math.max(8, Math.ceilDiv(Math.ceilDiv(shape.channelsOut(), (int) channelBlocks), 8) * 8);
            return new Blocks(columns, channels, columnBlocks, Math.ceilDiv(shape.channelsOut(), channels));
        }
    }

    GemmConvStep(ConvShape shape, ConvEpilogue epilogue, Node node, CpuLoweringContext context) {
        Blocks blocks = Blocks.of(shape, context.threads());
        boolean empty = shape.windows().outputArea() == 0;
        super(
                "gemm, " + Loops.current().tier() + (shape.windows().isPointwise() ? "" : ", windows by blocks"),
                empty ? 0 : shape.batch() * shape.groups() * blocks.columnBlocks() * blocks.channelBlocks(),
                Math.max(1, shape.depth()) * blocks.columns() * Math.min(blocks.channels(), shape.channelsOut()) / 16);
        this.shape = shape;
        this.epilogue = epilogue;
        this.blocks = blocks;
        this.windows = new Im2col(shape.windows());
        this.input = context.slot(node.input(0));
        this.weights = new Filters(node.input(1), context);
        this.output = context.slot(node.output());
        this.mending = Mending.isNeeded(shape.windows(), node.input(1)) ? new Mending(shape) : null;
    }

    @Override
    public List<String> passedOver() {
        return mending == null
                ? List.of()
                : List.of("gemm alone: weights that may not be finite meet padding, whose zeros make NaN of them");
    }

    @Override
    public long workspaceBytes() {
        return edgeOffset() + Gemm.EDGE_BYTES;
    }

    /** The panels come first in workspace, then one row of windows, then the tiles that stick out. */
    private long lineOffset() {
        return 4L * DEPTH * blocks.columns();
    }

    private long edgeOffset() {
        return lineOffset() + windows.lineBytes(blocks.columns());
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        for (long unit = from; unit < to; unit++) {
            long rest = unit / blocks.channelBlocks();
            int firstChannel = (int) (unit % blocks.channelBlocks()) * blocks.channels();
            long firstColumn = rest % blocks.columnBlocks() * blocks.columns();
            block(frame, rest / blocks.columnBlocks(), firstChannel, firstColumn, frame.workspace(worker));
        }
    }

    /** {@code product} numbers the groups of all batches. */
    private void block(CpuFrame frame, long product, int firstChannel, long firstColumn, MemorySegment workspace) {
        MemorySegment source = frame.at(input);
        MemorySegment filters = weights.of(frame);
        MemorySegment target = frame.at(output);
        long area = shape.windows().outputArea();
        int depth = (int) shape.depth();
        int columns = (int) Math.min(blocks.columns(), area - firstColumn);
        int channels = Math.min(blocks.channels(), shape.channelsOut() - firstChannel);
        long x = product * shape.channelsIn() * shape.windows().inputArea();
        long y = (product * shape.channelsOut() + firstChannel) * area + firstColumn;
        long channel = product % shape.groups() * shape.channelsOut() + firstChannel;
        boolean biased = mending == null && epilogue.biased();
        for (int row = 0; biased && row < channels; row++) {
            loops.fill(target, (y + row * area) * 4, epilogue.start(frame, channel + row), columns);
        }
        int first = 0;
        do { // once for no depth too: the sums are then zero
            int rows = Math.min(DEPTH, depth - first);
            Im2col.Block block = new Im2col.Block(first, rows, firstColumn, columns);
            windows.pack(source, x, block, workspace, 0, workspace, lineOffset());
            loops.product(
                    new Gemm.Size(channels, columns, rows),
                    new Matrix(filters, (channel * depth + first) * 4, 4L * depth),
                    new Matrix(workspace, 0, 4L * Gemm.NR * rows),
                    new Matrix(target, y * 4, area * 4),
                    first == 0 && !biased ? Start.ZERO : Start.RESULT,
                    new Place(workspace, edgeOffset()));
            first += DEPTH;
        } while (first < depth);
        for (int row = 0; row < channels; row++) {
            if (mending != null) {
                mending.mend(source, x, filters, (channel + row) * depth, target, y + row * area, firstColumn, columns);
            }
            if (biased) {
                epilogue.finish(frame, loops, target, y + row * area, columns);
            } else {
                epilogue.apply(frame, loops, channel + row, target, y + row * area, columns);
            }
        }
    }
}
