package dev.tenon.cpu.loops;

import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.machine.Kernel;
import dev.tenon.cpu.machine.Matrix;
import dev.tenon.cpu.machine.MoveKernel;
import dev.tenon.cpu.machine.ProductKernel;
import dev.tenon.cpu.machine.RowKernels;
import dev.tenon.cpu.machine.RowKernels.Row;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The loops in machine code, where that runs: full speed from the first call on. */
public final class MachineLoops {
    private static final Logger LOG = System.getLogger("dev.tenon.cpu");
    /** Elements that lanes may sum in f32. */
    private static final int BLOCK = FloatRows.BLOCK;

    private static final @Nullable Kernels KERNELS = make();
    private static final ThreadLocal<RowKernels.Arguments> ARGUMENTS = ThreadLocal.withInitial(
            () -> new RowKernels.Arguments(Arena.ofAuto().allocate(Kernel.ARGUMENT_BYTES, 64)));

    private MachineLoops() {}

    /** A record: to compiled code the components of a constant are constants. */
    private record Kernels(ProductKernel product, MoveKernel move, RowKernels rows) {}

    /** With vectors as wide as those of the Vector API, if that is there: loops of both share panels. */
    private static @Nullable Kernels make() {
        if (!Vectors.mode().equals(Vectors.AUTO)) {
            return null;
        }
        try {
            int most = Kernel.lanes();
            int lanes = Vectors.available() ? Math.min(most, VectorLoops.LANES) : most;
            return new Kernels(ProductKernel.make(lanes), MoveKernel.make(), RowKernels.make(lanes));
        } catch (IllegalStateException e) {
            LOG.log(Level.DEBUG, "the hot loops run in Java: {0}", e.getMessage());
        } catch (LinkageError | OutOfMemoryError e) {
            LOG.log(Level.WARNING, "the hot loops run in Java, not in machine code", e);
        }
        return null;
    }

    static boolean available() {
        return KERNELS != null;
    }

    /** Columns of a panel; 0 where there is no machine code. */
    static int columns() {
        return KERNELS == null ? 0 : KERNELS.product.columns();
    }

    /** Does {@link Loops#product}, unless some memory lies on the heap, where it moves. Returns whether it did. */
    static boolean product(
            int m,
            int n,
            int k,
            MemorySegment a,
            long aOffset,
            long lda,
            MemorySegment b,
            long bOffset,
            long bStride,
            MemorySegment c,
            long cOffset,
            long ldc,
            int start,
            MemorySegment bias,
            long biasOffset) {
        if (KERNELS == null || !a.isNative() || !b.isNative() || !c.isNative() || !bias.isNative()) {
            return false;
        }
        Matrix result = new Matrix(c, cOffset, 4 * ldc);
        Matrix begin = switch (start) {
            case Loops.ACCUMULATE -> result;
            case Loops.BIAS -> new Matrix(bias, biasOffset, 0);
            default -> Matrix.NONE;
        };
        Matrix rows = new Matrix(a, aOffset, 4 * lda);
        KERNELS.product.run(
                m,
                n,
                k,
                rows,
                new Matrix(b, bOffset, bStride),
                result,
                begin,
                ARGUMENTS.get().memory());
        return true;
    }

    /** Copies rows of bytes; steps are in bytes. Returns whether it did: a multiple of four, outside the heap. */
    static boolean move(long rows, long bytes, Matrix from, Matrix to) {
        if (KERNELS == null
                || bytes % 4 != 0
                || from.stride() < 0
                || to.stride() < 0
                || !from.memory().isNative()
                || !to.memory().isNative()) {
            return false;
        }
        KERNELS.move.run(rows, bytes, from, to, ARGUMENTS.get().memory());
        return true;
    }

    /** Does {@link Loops#unary}, where it is for this function and memory outside the heap. Returns whether it did. */
    static boolean unary(Unary op, MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (KERNELS == null || op.fn() != UnaryFn.GELU || !x.isNative() || !y.isNative()) {
            return false;
        }
        KERNELS.rows.gelu(new Row(x, xOffset), new Row(y, yOffset), n, ARGUMENTS.get());
        return true;
    }

    /** Whether rows of such memory, outside the heap, can be walked. */
    static boolean takes(MemorySegment x, MemorySegment y) {
        return KERNELS != null && x.isNative() && y.isNative();
    }

    /** Does {@link Loops#expSum} for memory that is {@link #takes taken}. */
    static double expSum(MemorySegment x, long xOffset, float shift, MemorySegment y, long yOffset, int n) {
        RowKernels rows = Objects.requireNonNull(KERNELS).rows;
        RowKernels.Arguments arguments = ARGUMENTS.get();
        double sum = 0;
        for (int at = 0; at < n; at += BLOCK) {
            Row from = new Row(x, xOffset + 4L * at);
            sum += rows.expSum(from, shift, new Row(y, yOffset + 4L * at), Math.min(BLOCK, n - at), arguments);
        }
        return sum;
    }

    /**
     * Does {@link Loops#moments}, where memory lies outside the heap and no block's sums in f32 overflow, which doubles
     * would not. Returns whether it did.
     */
    static boolean moments(MemorySegment x, long xOffset, long n, float shift, MemorySegment to, long toOffset) {
        if (!takes(x, x)) {
            return false;
        }
        RowKernels rows = Objects.requireNonNull(KERNELS).rows;
        RowKernels.Arguments arguments = ARGUMENTS.get();
        double sum = 0;
        double squares = 0;
        for (long at = 0; at < n; at += BLOCK) {
            rows.moments(new Row(x, xOffset + 4 * at), (int) Math.min(BLOCK, n - at), shift, to, toOffset, arguments);
            sum += to.get(Convert.F64, toOffset);
            squares += to.get(Convert.F64, toOffset + 8);
        }
        to.set(Convert.F64, toOffset, sum);
        to.set(Convert.F64, toOffset + 8, squares);
        return Double.isFinite(sum) && Double.isFinite(squares);
    }

    /** Does {@link Loops#normalise}, where all memory lies outside the heap. Returns whether it did. */
    static boolean normalise(
            MemorySegment x,
            long xOffset,
            MemorySegment y,
            long yOffset,
            int n,
            float mean,
            float factor,
            float addend,
            MemorySegment scale,
            long scaleOffset,
            MemorySegment bias,
            long biasOffset) {
        boolean scaled = scale.byteSize() != 0;
        boolean biased = bias.byteSize() != 0;
        if (!takes(x, y) || !scale.isNative() || !bias.isNative() || (biased && !scaled)) {
            return false;
        }
        Objects.requireNonNull(KERNELS)
                .rows
                .normalise(
                        new Row(x, xOffset),
                        new Row(y, yOffset),
                        n,
                        new RowKernels.Affine(mean, factor, addend),
                        scaled ? new Row(scale, scaleOffset) : Row.NONE,
                        biased ? new Row(bias, biasOffset) : Row.NONE,
                        ARGUMENTS.get());
        return true;
    }
}
