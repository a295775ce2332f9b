package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;

/**
 * Attention: prepares launches. The element types are f32, f16, bf16 and f64; all but f64 are computed in f32.
 * Thread-safe.
 */
public final class AttentionKernels {
    private static final int THREADS = 128;
    private static final int SCALAR_QUERIES = 16;
    private static final int MMA_QUERIES = 64;
    private static final int PADDING_BYTES = 16; // of a staged row
    private static final int STATIC_SHARED = 24 << 10; // at least what the scalar kernel declares, of f64
    /** Head sizes that the tensor-core kernel is compiled for. */
    private static final int[] HEADS = {32, 64, 128};

    private final Kernels kernels;

    public AttentionKernels(Kernels kernels) {
        this.kernels = kernels;
    }

    /**
     * Strides of an operand [batch, token, head, element], in elements; its elements are neighbours.
     *
     * @param batch from one batch to the next
     * @param token likewise
     * @param head likewise
     */
    public record Strides(long batch, long token, long head) {}

    /** What a mask is. */
    public enum Mask {
        NONE(0),
        ADDED(1),
        BOOLEAN(2);

        final int code;

        Mask(int code) {
            this.code = code;
        }
    }

    /**
     * Strides of a mask, in elements; 0 where it is repeated.
     *
     * @param batch from one batch to the next
     * @param head likewise
     * @param query likewise
     * @param key likewise
     */
    public record MaskStrides(long batch, long head, long query, long key) {}

    /**
     * A problem. Sizes are at least 1, but for {@code keys}.
     *
     * @param group query heads that share a key head
     * @param size of a head of queries and keys
     * @param sizeV of a head of values
     * @param window 0 for none
     * @param cap 0 for none
     * @param plain whether nothing is left out: a row of -inf is NaN then, otherwise 0
     */
    public record Problem(
            DType dtype,
            long batches,
            long heads,
            int group,
            long queries,
            long keys,
            int size,
            int sizeV,
            Strides q,
            Strides k,
            Strides v,
            Strides y,
            Mask mask,
            MaskStrides maskStrides,
            boolean causal,
            long window,
            double scale,
            double cap,
            boolean plain) {}

    /** Why the tensor-core kernel does not take a problem; empty where it does. */
    public static String refusal(Problem problem, DeviceProperties device) {
        int pack = 16 / problem.dtype().bytes();
        if (problem.dtype() == DType.F64) {
            return "tensor cores take f16, bf16 and TF32, not f64";
        }
        if (device.architecture().number() < 80) {
            return "compute capability " + device.architecture() + " is below 8.0";
        }
        if (problem.size() != problem.sizeV() || problem.size() > HEADS[HEADS.length - 1]) {
            return "heads of " + problem.size() + " and " + problem.sizeV()
                    + " elements; it takes equal ones of at most " + HEADS[HEADS.length - 1];
        }
        boolean packed = problem.size() % pack == 0
                && isPacked(problem.q(), pack)
                && isPacked(problem.k(), pack)
                && isPacked(problem.v(), pack)
                && isPacked(problem.y(), pack);
        if (!packed) {
            return "heads do not start on 16-byte boundaries";
        }
        return !problem.plain() && (problem.mask() != Mask.NONE || problem.causal() || problem.window() > 0)
                ? "a key that is kept out must not count whatever its value"
                : "";
    }

    private static boolean isPacked(Strides strides, int pack) {
        return strides.batch() % pack == 0 && strides.token() % pack == 0 && strides.head() % pack == 0;
    }

    /** A launch of the tensor-core kernel, for a problem without {@link #refusal}. */
    public Launch tensorCores(Problem problem) {
        int padded = HEADS[0];
        for (int i = 1; padded < problem.size(); i++) {
            padded = HEADS[i];
        }
        String entry = "attention_mma_" + padded;
        int keys = padded == HEADS[HEADS.length - 1] ? 32 : 64;
        int row = SizeMath.toInt("attention", problem.dtype().bytesFor(padded)) + PADDING_BYTES;
        int shared = (MMA_QUERIES + 2 * keys) * row + 2 * keys * Float.BYTES;
        Kernel kernel = kernels.kernel(KernelCatalog.ATTENTION_MMA, entry, KernelVariant.of(problem.dtype()), shared);
        LaunchShape shape = shape(problem, MMA_QUERIES).withSharedBytes(shared);
        return new Launch(problem, entry, shape, kernel);
    }

    /** Why the plain kernel cannot take a problem; empty where it can. */
    public static String scalarRefusal(Problem problem, DeviceProperties device) {
        if (problem.heads() > GridLimits.YZ) {
            return "attention: " + problem.heads() + " heads are more than " + GridLimits.YZ;
        }
        long shared = scalarShared(problem);
        int most = device.sharedBytesPerBlockOptIn() - STATIC_SHARED;
        return shared > most
                ? "attention: heads of " + problem.size() + " and " + problem.sizeV() + " elements take " + shared
                        + " bytes of shared memory; a block has " + most + " left"
                : "";
    }

    private static long scalarShared(Problem problem) {
        int each = problem.dtype().accumulator().bytes();
        return (long) SCALAR_QUERIES * (problem.size() + problem.sizeV()) * each;
    }

    /** A launch of the plain kernel, for a problem without {@link #scalarRefusal}. */
    public Launch scalar(Problem problem) {
        int shared = SizeMath.toInt("attention", scalarShared(problem));
        Kernel kernel = kernels.kernel(KernelCatalog.ATTENTION, "attention", KernelVariant.of(problem.dtype()), shared);
        return new Launch(problem, "attention", shape(problem, SCALAR_QUERIES).withSharedBytes(shared), kernel);
    }

    private static LaunchShape shape(Problem problem, int queries) {
        return LaunchShape.of(
                SizeMath.toInt("attention", Math.ceilDiv(problem.queries(), queries)),
                (int) problem.heads(),
                (int) Math.min(problem.batches(), GridLimits.YZ),
                THREADS);
    }

    /** A prepared launch. Immutable; enqueue with a slab of the calling thread. */
    public record Launch(Problem problem, String entry, LaunchShape shape, Kernel kernel) {
        /**
         * Enqueues it.
         *
         * @param mask 0 for none
         */
        public void enqueue(GpuStream stream, KernelArguments arguments, long q, long k, long v, long mask, long y) {
            arguments.clear();
            add(arguments, q, problem.q());
            add(arguments, k, problem.k());
            add(arguments, v, problem.v());
            add(arguments, y, problem.y());
            MaskStrides strides = problem.maskStrides();
            arguments
                    .add(mask)
                    .add(strides.batch())
                    .add(strides.head())
                    .add(strides.query())
                    .add(strides.key());
            arguments
                    .add(problem.batches())
                    .add(problem.group())
                    .add(problem.queries())
                    .add(problem.keys())
                    .add(problem.size())
                    .add(problem.sizeV())
                    .add(problem.mask().code)
                    .add(problem.causal() ? 1 : 0)
                    .add(problem.window());
            if (problem.dtype() == DType.F64) {
                arguments.add(problem.scale()).add(problem.cap());
            } else {
                arguments.add((float) problem.scale()).add((float) problem.cap());
            }
            stream.launch(kernel.function(), shape, arguments.add(problem.plain() ? 1 : 0));
        }

        private static void add(KernelArguments arguments, long address, Strides strides) {
            arguments.add(address).add(strides.batch()).add(strides.token()).add(strides.head());
        }
    }
}
