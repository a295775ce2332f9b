package dev.tenon.cpu.loops;

import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.machine.BlendKernel;
import dev.tenon.cpu.machine.CallableCode;
import dev.tenon.cpu.machine.MachineRows;
import dev.tenon.cpu.machine.MoveKernel;
import dev.tenon.cpu.machine.NormFactors;
import dev.tenon.cpu.machine.NormKernel;
import dev.tenon.cpu.machine.PanelKernel;
import dev.tenon.cpu.machine.ProductKernel;
import dev.tenon.cpu.machine.RowFoldKernel;
import dev.tenon.cpu.machine.SoftmaxKernel;
import dev.tenon.cpu.machine.TransposeKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The hottest loops in machine code, at full speed from the first call on. Memory on the heap moves, and a mapped file
 * that shrinks is a fault that only Java survives, so plain loops serve both; all else is left to loops in Java.
 */
public final class MachineLoops extends LoopsOverOthers {
    private static final Logger LOG = System.getLogger("dev.tenon.cpu");
    /** Elements that lanes may sum in f32. */
    private static final int BLOCK = FloatRows.BLOCK;

    /** Elements whose extremes are worth a call. */
    private static final int LONG = 128;

    /** Of a mapped operand, copied at a time. */
    private static final long MAPPED_BYTES = 256 << 10;

    /** More is not read again before it has left the caches of a core. */
    private static final long STREAM_BYTES = 8 << 20;

    private static final @Nullable Kernels KERNELS = make();
    private static final ThreadLocal<MachineRows.Arguments> ARGUMENTS = ThreadLocal.withInitial(
            () -> new MachineRows.Arguments(Arena.ofAuto().allocate(CallableCode.ARGUMENT_BYTES, 64)));

    private static final @Nullable ProductKernel BYTES = makeBytes();

    private final Kernels kernels;

    /** A record: to compiled code the components of a constant are constants. */
    private record Kernels(
            ProductKernel product,
            MoveKernel move,
            MachineRows rows,
            SoftmaxKernel softmax,
            NormKernel norm,
            PanelKernel panel,
            BlendKernel blend) {}

    private MachineLoops(Kernels kernels, Loops others) {
        super(others);
        this.kernels = kernels;
    }

    /** With vectors as wide as those of the Vector API, if that is there: loops of both share panels. */
    private static @Nullable Kernels make() {
        if (Vectors.mode().equals(Vectors.VECTOR) || Vectors.mode().equals(Vectors.SCALAR)) {
            return null;
        }
        try {
            int most = CallableCode.lanes();
            int lanes = Vectors.available() ? Math.min(most, VectorLoops.LANES) : most;
            return new Kernels(
                    ProductKernel.make(lanes),
                    MoveKernel.make(),
                    MachineRows.make(lanes),
                    SoftmaxKernel.make(lanes),
                    NormKernel.make(lanes),
                    PanelKernel.make(lanes),
                    BlendKernel.make(lanes));
        } catch (IllegalStateException e) {
            LOG.log(Level.DEBUG, "the hottest loops run in Java: {0}", e.getMessage());
        } catch (LinkageError | OutOfMemoryError e) {
            LOG.log(Level.WARNING, "the hottest loops run in Java, not in machine code", e);
        }
        return null;
    }

    private static @Nullable ProductKernel makeBytes() {
        if (KERNELS == null) {
            return null;
        }
        try {
            return ProductKernel.makeBytes();
        } catch (IllegalStateException e) {
            LOG.log(Level.DEBUG, "products of 8-bit integers run as those of f32: {0}", e.getMessage());
        } catch (LinkageError | OutOfMemoryError e) {
            LOG.log(Level.WARNING, "products of 8-bit integers run as those of f32, not in machine code", e);
        }
        return null;
    }

    /** Columns of a panel of bytes for {@link #productOfBytes}; 0 where that is not there. */
    public static int byteColumns() {
        return BYTES == null ? 0 : BYTES.columns();
    }

    /**
     * C = start + A B of bytes, exact but for sums past 32 bits, which wrap. All memory lies outside the heap.
     *
     * @param groups of four bytes along k
     * @param a unsigned
     * @param b signed, in panels of {@link #byteColumns} columns of such groups
     * @param c integers of 32 bits
     * @param start a row for all of C
     */
    public static void productOfBytes(int m, int n, int groups, Matrix a, Matrix b, Matrix c, Matrix start) {
        Objects.requireNonNull(BYTES)
                .run(m, n, groups, a, b, c, start, ARGUMENTS.get().memory());
    }

    /** Whether machine code runs here. */
    public static boolean available() {
        return KERNELS != null;
    }

    /** Reductions of many rows; empty where machine code does not run. */
    public static Optional<RowFoldKernel> folds() {
        return Optional.ofNullable(KERNELS).map(known -> known.rows.folds());
    }

    /** Floats of the vectors of machine code; 0 where it does not run. */
    public static int lanes() {
        return KERNELS == null ? 0 : KERNELS.rows.lanes();
    }

    /** Memory for the arguments of a kernel, the calling thread's own. */
    public static MemorySegment arguments() {
        return ARGUMENTS.get().memory();
    }

    /** Columns of a panel; for where machine code {@link #available runs}. */
    static int columns() {
        return KERNELS == null ? 0 : KERNELS.product.columns();
    }

    /** The others, with machine code before them where it runs. */
    static Loops before(Loops others) {
        return KERNELS == null ? others : new MachineLoops(KERNELS, others);
    }

    @Override
    public String tier() {
        return "machine code";
    }

    @Override
    public void product(Gemm.Size size, Matrix a, Matrix b, Matrix c, Start start, Place edge) {
        Matrix bias = start.bias();
        if (a.memory().isMapped()) {
            productOfMapped(size, a, b, c, start, edge);
            return;
        }
        boolean outside =
                Segments.isNative(a.memory()) && Segments.isNative(b.memory()) && Segments.isNative(c.memory());
        if (!outside || !Segments.isNative(bias.memory())) {
            PlainProduct.run(size, a, b, c, start);
            return;
        }
        Matrix begin = switch (start.kind()) {
            case ZERO -> Matrix.NONE;
            case RESULT -> c;
            case BIAS -> bias;
        };
        kernels.product.run(
                size.m(), size.n(), size.k(), a, b, c, begin, ARGUMENTS.get().memory());
    }

    /** A large constant of a file: its rows are copied, as many at a time as stay in a cache. */
    private void productOfMapped(Gemm.Size size, Matrix a, Matrix b, Matrix c, Start start, Place edge) {
        long bytes = 4L * size.k();
        int most = Math.clamp(MAPPED_BYTES / Math.max(bytes, 1), 1, Math.max(size.m(), 1));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(most * bytes, 64);
            for (int row = 0; row < size.m(); row += most) {
                int count = Math.min(most, size.m() - row);
                for (int i = 0; i < count; i++) {
                    MemorySegment.copy(a.memory(), a.offset() + (row + i) * a.stride(), copy, i * bytes, bytes);
                }
                Gemm.Size part = new Gemm.Size(count, size.n(), size.k());
                product(part, new Matrix(copy, 0, bytes), b, c.plus(row * c.stride()), start, edge);
            }
        }
    }

    @Override
    public void unary(Unary op, MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (op.fn() == UnaryFn.GELU && Segments.isNative(x) && Segments.isNative(y)) {
            kernels.rows.gelu(new Place(x, xOffset), new Place(y, yOffset), n, ARGUMENTS.get());
        } else {
            others.unary(op, x, xOffset, y, yOffset, n);
        }
    }

    @Override
    public void affine(
            MemorySegment x, long xOffset, MemorySegment y, long yOffset, float factor, float addend, int n) {
        NormFactors affine = new NormFactors(0, factor, addend);
        normalise(new Place(x, xOffset), new Place(y, yOffset), n, affine, Place.NONE, Place.NONE);
    }

    /** Sums in f32 of a block may overflow where doubles do not; then the loops in Java have the answer. */
    @Override
    public void moments(MemorySegment x, long xOffset, long n, float shift, MemorySegment to, long toOffset) {
        to.set(Convert.F64, toOffset, 0);
        to.set(Convert.F64, toOffset + 8, 0);
        long done = Segments.isNative(x)
                ? kernels.rows.addMoments(new Place(x, xOffset), n, shift, to, toOffset, ARGUMENTS.get())
                : 0;
        double sum = to.get(Convert.F64, toOffset);
        double squares = to.get(Convert.F64, toOffset + 8);
        for (long at = done; at < n && Segments.isNative(x); at += BLOCK) {
            int count = (int) Math.min(BLOCK, n - at);
            kernels.rows.moments(new Place(x, xOffset + 4 * at), count, shift, to, toOffset, ARGUMENTS.get());
            sum += to.get(Convert.F64, toOffset);
            squares += to.get(Convert.F64, toOffset + 8);
        }
        if (Segments.isNative(x) && Double.isFinite(sum) && Double.isFinite(squares)) {
            to.set(Convert.F64, toOffset, sum);
            to.set(Convert.F64, toOffset + 8, squares);
        } else {
            super.moments(x, xOffset, n, shift, to, toOffset);
        }
    }

    /** As {@link #moments}. */
    @Override
    public double sum(MemorySegment x, long xOffset, long n) {
        if (n < LONG || !Segments.isNative(x)) {
            return super.sum(x, xOffset, n);
        }
        double sum = 0;
        for (long at = 0; at < n; at += BLOCK) {
            sum += kernels.rows.sum(new Place(x, xOffset + 4 * at), (int) Math.min(BLOCK, n - at), ARGUMENTS.get());
        }
        return Double.isFinite(sum) ? sum : super.sum(x, xOffset, n);
    }

    @Override
    public float max(MemorySegment x, long xOffset, int n) {
        return n >= LONG && Segments.isNative(x)
                ? kernels.rows.largest(new Place(x, xOffset), n, ARGUMENTS.get())
                : super.max(x, xOffset, n);
    }

    @Override
    public float min(MemorySegment x, long xOffset, int n) {
        return n >= LONG && Segments.isNative(x)
                ? kernels.rows.smallest(new Place(x, xOffset), n, ARGUMENTS.get())
                : super.min(x, xOffset, n);
    }

    @Override
    public double expSum(MemorySegment x, long xOffset, float shift, MemorySegment y, long yOffset, int n) {
        return expSum(x, xOffset, shift, y, yOffset, n, false);
    }

    @Override
    public double expSumStreaming(MemorySegment x, long xOffset, float shift, MemorySegment y, long yOffset, int n) {
        return expSum(x, xOffset, shift, y, yOffset, n, true);
    }

    private double expSum(
            MemorySegment x, long xOffset, float shift, MemorySegment y, long yOffset, int n, boolean stream) {
        if (!Segments.isNative(x) || !Segments.isNative(y)) {
            return super.expSum(x, xOffset, shift, y, yOffset, n);
        }
        double sum = 0;
        for (int at = 0; at < n; at += BLOCK) {
            Place from = new Place(x, xOffset + 4L * at);
            Place to = new Place(y, yOffset + 4L * at);
            sum += kernels.rows.expSum(from, shift, to, Math.min(BLOCK, n - at), stream, ARGUMENTS.get());
        }
        return sum;
    }

    @Override
    public void normalise(Place x, Place y, int n, NormFactors affine, Place scale, Place bias) {
        if (isNormalised(x, y, scale, bias)) {
            kernels.rows.normalise(x, y, n, affine, scale, bias, false, ARGUMENTS.get());
        } else {
            super.normalise(x, y, n, affine, scale, bias);
        }
    }

    @Override
    public void normaliseStreaming(Place x, Place y, int n, NormFactors affine, Place scale, Place bias) {
        if (isNormalised(x, y, scale, bias)) {
            kernels.rows.normalise(x, y, n, affine, scale, bias, true, ARGUMENTS.get());
        } else {
            super.normalise(x, y, n, affine, scale, bias);
        }
    }

    private static boolean isNormalised(Place x, Place y, Place scale, Place bias) {
        boolean outside = Segments.isNative(x.memory()) && Segments.isNative(y.memory());
        outside = outside && Segments.isNative(scale.memory()) && Segments.isNative(bias.memory());
        return outside && (bias.isNone() || !scale.isNone());
    }

    @Override
    public void softmax(SoftmaxKernel.Form form, Matrix x, Matrix mask, Matrix work, Matrix y) {
        boolean outside = Segments.isNative(x.memory()) && Segments.isNative(mask.memory());
        outside = outside && Segments.isNative(work.memory()) && Segments.isNative(y.memory());
        if (outside && form.n() <= SoftmaxKernel.MOST) {
            kernels.softmax.run(form, x, mask, work, y, ARGUMENTS.get().memory());
        } else {
            super.softmax(form, x, mask, work, y);
        }
    }

    @Override
    public int norm(NormKernel.Form form, Matrix x, Matrix y, Place scale, Place bias) {
        boolean outside = Segments.isNative(x.memory()) && Segments.isNative(y.memory());
        outside = outside && Segments.isNative(scale.memory()) && Segments.isNative(bias.memory());
        boolean takes = form.n() <= BLOCK && (bias.isNone() || !scale.isNone());
        return outside && takes
                ? kernels.norm.run(form, x, y, scale, bias, ARGUMENTS.get().memory())
                : 0;
    }

    /**
     * Turns rows, as many as a panel has columns, into a panel of {@link Gemm}; returns how many elements of each are
     * done, which is none where machine code does not run.
     */
    static int turn(int k, Matrix rows, Place panel) {
        boolean takes = Segments.isNative(rows.memory()) && Segments.isNative(panel.memory()) && rows.stride() >= 0;
        if (KERNELS == null || !takes) {
            return 0;
        }
        int taken = PanelKernel.taken(k);
        KERNELS.panel.run(taken, rows, panel, ARGUMENTS.get().memory());
        return taken;
    }

    /**
     * Rows of y become weighted sums of rows of x, where machine code runs and takes them. Returns whether it did.
     *
     * @param n floats of a row
     */
    public static boolean blend(BlendKernel.Taps taps, int n, Place x, Matrix y) {
        if (KERNELS == null || !Segments.isNative(x.memory()) || !Segments.isNative(y.memory()) || y.stride() < 0) {
            return false;
        }
        KERNELS.blend.run(taps, n, x, y, ARGUMENTS.get().memory());
        return true;
    }

    /**
     * Copies rows of bytes, where machine code runs and takes them: a multiple of four bytes, outside the heap. Returns
     * whether it did.
     */
    static boolean move(long rows, long bytes, Matrix from, Matrix to) {
        return move(rows, bytes, from, to, bytes > 0 && rows > STREAM_BYTES / bytes);
    }

    /** The same; {@code stream} for results that go past the caches, where their rows suit that. */
    static boolean move(long rows, long bytes, Matrix from, Matrix to, boolean stream) {
        boolean takes = bytes % 4 == 0 && from.stride() >= 0 && to.stride() >= 0;
        if (KERNELS == null || !takes || !Segments.isNative(from.memory()) || !Segments.isNative(to.memory())) {
            return false;
        }
        KERNELS.move.run(rows, bytes, from, to, stream, ARGUMENTS.get().memory());
        return true;
    }

    /**
     * Transposes as many whole tiles of rows as machine code takes, where it runs; returns how many rows it did.
     *
     * @param width bytes of an element: 1, 2, 4 or 8
     * @param count rows of {@code from}
     * @param n elements of each
     * @param to row i takes element i of each
     * @param stream whether results go past the caches, where their rows suit that
     */
    static int transpose(int width, int count, int n, Matrix from, Matrix to, boolean stream) {
        boolean takes = from.stride() >= 0 && to.stride() >= 0;
        if (KERNELS == null || !takes || !Segments.isNative(from.memory()) || !Segments.isNative(to.memory())) {
            return 0;
        }
        TransposeKernel kernel = TransposeKernel.of(lanes(), width);
        return kernel.run(count, n, from, to, stream, ARGUMENTS.get().memory());
    }
}
