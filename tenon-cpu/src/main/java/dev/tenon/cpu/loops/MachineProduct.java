package dev.tenon.cpu.loops;

import dev.tenon.cpu.machine.ProductKernel;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Products of f32 matrices in machine code, where that runs. */
public final class MachineProduct {
    private static final Logger LOG = System.getLogger("dev.tenon.cpu");
    private static final @Nullable ProductKernel KERNEL = make();
    private static final ThreadLocal<MemorySegment> ARGUMENTS =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(ProductKernel.ARGUMENT_BYTES, 64));

    private MachineProduct() {}

    /** With vectors as wide as those of the Vector API, if that is there: loops of both share panels. */
    private static @Nullable ProductKernel make() {
        if (!Vectors.mode().equals(Vectors.AUTO)) {
            return null;
        }
        try {
            return ProductKernel.make(Vectors.available() ? VectorLoops.LANES : 0);
        } catch (IllegalStateException e) {
            LOG.log(Level.DEBUG, "products run in Java, not in machine code: {0}", e.getMessage());
        } catch (LinkageError | OutOfMemoryError e) {
            LOG.log(Level.WARNING, "products run in Java, not in machine code", e);
        }
        return null;
    }

    static boolean available() {
        return KERNEL != null;
    }

    /** Columns of a panel; 0 where there is no machine code. */
    static int columns() {
        return KERNEL == null ? 0 : KERNEL.columns();
    }

    /** Whether products of such memory run in machine code: heap memory moves. */
    static boolean takes(MemorySegment a, MemorySegment b, MemorySegment c) {
        return KERNEL != null && a.isNative() && b.isNative() && c.isNative();
    }

    /** See {@link Loops#product}; for memory that {@link #takes} takes. */
    static void run(
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
        ProductKernel.Matrix result = new ProductKernel.Matrix(c, cOffset, 4 * ldc);
        ProductKernel.Matrix begin =
                switch (start) {
                    case Loops.ACCUMULATE -> result;
                    case Loops.BIAS -> new ProductKernel.Matrix(bias, biasOffset, 0);
                    default -> ProductKernel.Matrix.NONE;
                };
        if (KERNEL != null) {
            KERNEL.run(
                    m,
                    n,
                    k,
                    new ProductKernel.Matrix(a, aOffset, 4 * lda),
                    new ProductKernel.Matrix(b, bOffset, bStride),
                    result,
                    begin,
                    ARGUMENTS.get());
        }
    }
}
