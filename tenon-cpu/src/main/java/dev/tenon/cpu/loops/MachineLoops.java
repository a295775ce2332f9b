package dev.tenon.cpu.loops;

import dev.tenon.cpu.machine.Matrix;
import dev.tenon.cpu.machine.MoveKernel;
import dev.tenon.cpu.machine.ProductKernel;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The loops in machine code, where that runs: full speed from the first call on. */
public final class MachineLoops {
    private static final Logger LOG = System.getLogger("dev.tenon.cpu");
    private static final @Nullable Kernels KERNELS = make();
    private static final ThreadLocal<MemorySegment> ARGUMENTS =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(ProductKernel.ARGUMENT_BYTES, 64));

    private MachineLoops() {}

    /** A record: to compiled code the components of a constant are constants. */
    private record Kernels(ProductKernel product, MoveKernel move) {}

    /** With vectors as wide as those of the Vector API, if that is there: loops of both share panels. */
    private static @Nullable Kernels make() {
        if (!Vectors.mode().equals(Vectors.AUTO)) {
            return null;
        }
        try {
            return new Kernels(
                    ProductKernel.make(Vectors.available() ? VectorLoops.LANES : 0), MoveKernel.make());
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
        Matrix begin =
                switch (start) {
                    case Loops.ACCUMULATE -> result;
                    case Loops.BIAS -> new Matrix(bias, biasOffset, 0);
                    default -> Matrix.NONE;
                };
        Matrix rows = new Matrix(a, aOffset, 4 * lda);
        KERNELS.product.run(m, n, k, rows, new Matrix(b, bOffset, bStride), result, begin, ARGUMENTS.get());
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
        KERNELS.move.run(rows, bytes, from, to, ARGUMENTS.get());
        return true;
    }
}
