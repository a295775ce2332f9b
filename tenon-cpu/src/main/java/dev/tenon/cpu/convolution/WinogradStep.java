package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Node;
import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Start;
import dev.tenon.cpu.machine.WinogradKernel.Groups;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.LoopStep;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.MemorySegment;

/**
 * Convolution 3x3 of f32 with strides of one, whose channels lie side by side, by Winograd's F(4x4, 3x3): a quarter of
 * the multiplications. Sums that are not finite are computed again by the definition, because a tile's transformation
 * brings an infinity or NaN of the input to results whose windows do not have it.
 *
 * <p>A unit is some rows of tiles of an image.
 */
final class WinogradStep extends LoopStep {
    /** Results of a tile along an axis. */
    private static final int TILE = 4;

    private static final int POINTS = 6;

    /** Tiles of a block: rows of each of the 36 products. Their sums and operands stay in the second-level cache. */
    private static final int TILES = 24;

    /** Fewer results do not make up for weights four times as large. */
    private static final int LEAST_AREA = 100;

    private static final int LEAST_CHANNELS = 16;

    /** Of weights, which then come from memory at each run. */
    private static final long MOST_BYTES = 16 << 20;

    /** Elements of four rows of tiles, which are counted in 32 bits. */
    private static final long MOST_ELEMENTS = 1 << 28;

    private final ConvShape shape;
    private final ConvEpilogue epilogue;
    private final MemorySegment weights;
    private final WinogradLoops transforms = WinogradLoops.current();
    private final Loops loops = Loops.current();
    private final int input;
    private final int output;
    private final int filters;
    private final int across;
    private final int tileRows;
    private final long blocks;
    /** Elements of a padded row of the input. */
    private final int line;

    private final Places places;
    private final long bytes;

    /** Where things lie in workspace. */
    private record Places(long rows, long half, long inputs, long sums, long results, long edge) {}

    WinogradStep(ConvShape shape, ConvEpilogue epilogue, ConstantData weights, Node node, CpuLoweringContext context) {
        int across = Math.ceilDiv(shape.windows().width().output(), TILE);
        int down = Math.ceilDiv(shape.windows().height().output(), TILE);
        int tileRows = tileRows(across, down, shape.batch(), context.threads());
        super(
                "Winograd F(4x4, 3x3), " + Loops.current().tier(),
                shape.batch() * Math.ceilDiv(down, tileRows),
                (long) tileRows * across * WinogradWeights.POINTS * shape.channelsIn() * shape.channelsOut() / 16);
        this.shape = shape;
        this.epilogue = epilogue;
        this.across = across;
        this.tileRows = tileRows;
        this.blocks = Math.ceilDiv(down, tileRows);
        this.line = (TILE * across + 2) * shape.channelsIn();
        this.input = context.slot(node.input(0));
        this.filters = context.slot(node.input(1));
        this.output = context.slot(node.output());
        this.weights = WinogradWeights.of(weights, shape.channelsIn(), shape.channelsOut(), context);
        long tiles = (long) tileRows * across;
        Layout layout = new Layout();
        this.places = new Places(
                layout.take(4L * POINTS * line),
                layout.take(4L * POINTS * line),
                layout.take(4L * WinogradWeights.POINTS * tiles * shape.channelsIn()),
                layout.take(4L * WinogradWeights.POINTS * tiles * shape.channelsOut()),
                layout.take(4L * TILE * POINTS * tiles * shape.channelsOut()),
                layout.take(Gemm.EDGE_BYTES));
        this.bytes = layout.bytes();
    }

    private static int tileRows(int across, int down, long batch, int threads) {
        int rows = Math.max(1, TILES / Math.max(1, across));
        long wanted = threads == 1 ? 1 : Math.ceilDiv(2L * threads, Math.max(1, batch));
        rows = (int) Math.min(rows, Math.ceilDiv(down, Math.min(wanted, Math.max(1, down))));
        return Math.ceilDiv(down, Math.ceilDiv(Math.max(1, down), Math.max(1, rows)));
    }

    /** Where it is faster than products of the windows. */
    static boolean suits(ConvShape shape) {
        return shape.groups() == 1
                && shape.channelsIn() >= LEAST_CHANNELS
                && shape.channelsOut() >= LEAST_CHANNELS
                && shape.windows().outputArea() >= LEAST_AREA
                && elements(shape, shape.channelsIn()) <= MOST_ELEMENTS
                && elements(shape, shape.channelsOut()) <= MOST_ELEMENTS
                && isThree(shape.windows().height())
                && isThree(shape.windows().width())
                && WinogradWeights.bytes(shape.channelsIn(), shape.channelsOut()) <= MOST_BYTES;
    }

    private static long elements(ConvShape shape, int channels) {
        return 4L * TILE * (shape.windows().width().output() + 2L * TILE) * channels;
    }

    private static boolean isThree(Windows3.Axis axis) {
        return axis.kernel() == 3 && axis.stride() == 1 && axis.dilation() == 1;
    }

    @Override
    public long workspaceBytes() {
        return bytes;
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        int height = shape.windows().height().output();
        int width = shape.windows().width().output();
        int channels = shape.channelsOut();
        MemorySegment workspace = frame.workspace(worker);
        MemorySegment target = frame.at(output);
        for (long unit = from; unit < to; unit++) {
            long image = unit / blocks;
            int firstTile = (int) (unit % blocks) * tileRows;
            int rows = Math.min(tileRows, Math.ceilDiv(height, TILE) - firstTile);
            int tiles = rows * across;
            for (int row = 0; row < rows; row++) {
                inputs(frame.at(input), image, firstTile + row, row * across, tiles, workspace);
            }
            products(tiles, workspace);
            results(frame, image, firstTile, rows, workspace, target);
            int first = firstTile * TILE;
            int count = Math.min(height - first, rows * TILE) * width * channels;
            long at = (image * height + first) * width * channels;
            if (!Double.isFinite(loops.sum(target, at * 4, count))) {
                mend(frame, image, at, count);
            }
            epilogue.finish(frame, loops, target, at, count);
        }
    }

    /** The transformed inputs of a row of tiles: for each point a row of channels for each tile. */
    private void inputs(
            MemorySegment source, long image, int tileRow, int firstTile, int tiles, MemorySegment workspace) {
        Windows3.Axis height = shape.windows().height();
        int channels = shape.channelsIn();
        for (int i = 0; i < POINTS; i++) {
            load(source, image, height.start(tileRow * TILE) + i, workspace, places.rows + 4L * i * line);
        }
        transforms.six(
                new WinogradLoops.Rows(workspace, places.rows, 4L * line),
                new WinogradLoops.Rows(workspace, places.half, 4L * line),
                line,
                Groups.ONE);
        long pixel = 4L * channels;
        for (int i = 0; i < POINTS; i++) {
            long to = places.inputs + ((long) i * POINTS * tiles + firstTile) * pixel;
            transforms.six(
                    new WinogradLoops.Rows(workspace, places.half + 4L * i * line, pixel),
                    new WinogradLoops.Rows(workspace, to, tiles * pixel),
                    channels,
                    new Groups(across, TILE * pixel, pixel));
        }
    }

    /** A row of the input with its padding; zeros outside of the input. */
    private void load(MemorySegment source, long image, int row, MemorySegment workspace, long to) {
        Windows3.Axis height = shape.windows().height();
        Windows3.Axis width = shape.windows().width();
        int channels = shape.channelsIn();
        int before = Math.min(width.before() * channels, line);
        int count = row < 0 || row >= height.input() ? 0 : Math.min(width.input() * channels, line - before);
        loops.fill(workspace, to, 0, before);
        if (count > 0) {
            long from = (image * height.input() + row) * width.input() * channels;
            Raw.copy(source, 4 * from, workspace, to + 4L * before, 4L * count);
        }
        loops.fill(workspace, to + 4L * (before + count), 0, line - before - count);
    }

    private void products(int tiles, MemorySegment workspace) {
        int k = shape.channelsIn();
        int n = shape.channelsOut();
        Gemm.Size size = new Gemm.Size(tiles, n, k);
        long matrix = Gemm.packedBytes(k, n);
        for (int point = 0; point < WinogradWeights.POINTS; point++) {
            loops.product(
                    size,
                    new Matrix(workspace, places.inputs + 4L * point * tiles * k, 4L * k),
                    new Matrix(weights, point * matrix, 4L * k * Gemm.NR),
                    new Matrix(workspace, places.sums + 4L * point * tiles * n, 4L * n),
                    Start.ZERO,
                    new Place(workspace, places.edge));
        }
    }

    private void results(
            CpuFrame frame, long image, int firstTile, int rows, MemorySegment workspace, MemorySegment target) {
        int height = shape.windows().height().output();
        int width = shape.windows().width().output();
        int n = shape.channelsOut();
        int tiles = rows * across;
        long points = 4L * tiles * n;
        for (int j = 0; j < POINTS; j++) {
            transforms.four(
                    new WinogradLoops.Rows(workspace, places.sums + j * points, POINTS * points),
                    new WinogradLoops.Rows(workspace, places.results + j * points, POINTS * points),
                    TILE,
                    Place.NONE,
                    tiles * n,
                    Groups.ONE);
        }
        Place bias = epilogue.biases(frame);
        Groups whole = new Groups(width / TILE, 4L * n, 4L * n * TILE);
        for (int tileRow = 0; tileRow < rows; tileRow++) {
            int row = (firstTile + tileRow) * TILE;
            for (int i = 0; i < TILE && row + i < height; i++) {
                WinogradLoops.Rows from = new WinogradLoops.Rows(
                        workspace, places.results + points * POINTS * i + 4L * tileRow * across * n, points);
                WinogradLoops.Rows to =
                        new WinogradLoops.Rows(target, 4 * (image * height + row + i) * width * n, 4L * n);
                transforms.four(from, to, TILE, bias, n, whole);
                if (width % TILE > 0) {
                    transforms.four(
                            from.plus(whole.count() * whole.x()),
                            to.plus(whole.count() * whole.y()),
                            width % TILE,
                            bias,
                            n,
                            Groups.ONE);
                }
            }
        }
    }

    private void mend(CpuFrame frame, long image, long from, int count) {
        MemorySegment target = frame.at(output);
        int n = shape.channelsOut();
        long area = shape.windows().outputArea();
        for (long at = from; at < from + count; at++) {
            if (!Float.isFinite(target.get(Raw.F32, 4 * at))) {
                int channel = (int) (at % n);
                double sum = sum(frame, image, at / n - image * area, channel);
                target.set(Raw.F32, 4 * at, (float) (sum + epilogue.start(frame, channel)));
            }
        }
    }

    private double sum(CpuFrame frame, long image, long position, int channel) {
        Windows3.Axis height = shape.windows().height();
        Windows3.Axis width = shape.windows().width();
        MemorySegment source = frame.at(input);
        MemorySegment filter = frame.at(filters);
        int channels = shape.channelsIn();
        int startH = height.start((int) (position / width.output()));
        int startW = width.start((int) (position % width.output()));
        double sum = 0;
        for (int cell = 0; cell < 9; cell++) {
            int row = startH + cell / 3;
            int column = startW + cell % 3;
            if (row < 0 || row >= height.input() || column < 0 || column >= width.input()) {
                continue;
            }
            long at = ((image * height.input() + row) * width.input() + column) * channels;
            long weight = ((long) channel * 9 + cell) * channels;
            for (int i = 0; i < channels; i++) {
                sum += (double) source.get(Raw.F32, 4 * (at + i)) * filter.get(Raw.F32, 4 * (weight + i));
            }
        }
        return sum;
    }
}
