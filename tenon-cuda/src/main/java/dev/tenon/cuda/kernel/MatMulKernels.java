package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Our own matrix product, and what is left to do after a library's: prepares launches. The element types are f32, f16,
 * bf16 and f64; sums of all but f64 are in f32. Thread-safe.
 */
public final class MatMulKernels {
    /** Dims of a batch that one launch can count. */
    public static final int BATCH_DIMS = 4;

    private static final int THREADS = 256;
    private static final int TILE = 64;
    private static final int PACK = 4;
    /** Of the epilogue: four rounds of the five that are there at a time. */
    private static final int BLOCKS_A_MULTIPROCESSOR = 20;

    private final Kernels kernels;

    public MatMulKernels(Kernels kernels) {
        this.kernels = kernels;
    }

    /**
     * A product with an epilogue; the result is not empty, a batch has at most {@link #BATCH_DIMS} dims. Addresses lie
     * on 32-byte boundaries.
     */
    public Product product(DType dtype, MatMulShape shape, @Nullable Unary activation) {
        String entry = shape.packs(PACK) ? "matmul_v4" : "matmul";
        Kernel kernel = kernels.kernel(KernelCatalog.MATMUL, entry, KernelVariant.of(dtype));
        long tiles = SizeMath.product(
                "matmul", Math.ceilDiv(shape.m(), TILE), Math.ceilDiv(shape.n(), TILE), shape.matrices());
        LaunchShape launch = LaunchShape.of((int) Math.min(tiles, Integer.MAX_VALUE), THREADS);
        return new Product(entry, dtype, shape, new Function(activation), launch, kernel);
    }

    /**
     * What is done to a product of {@code rows} rows of {@code n} columns, both at least 1. Addresses lie on 32-byte
     * boundaries.
     *
     * @param bias whether there will be one
     */
    public Finish finish(DType dtype, long rows, long n, boolean bias, @Nullable Unary activation) {
        // without a bias rows mean nothing
        long height = bias ? rows : 1;
        long width = bias ? n : rows * n;
        int widest = 16 / dtype.bytes();
        boolean packed = width % widest == 0;
        Kernel kernel = kernels.kernel(
                KernelCatalog.MATMUL_EPILOGUE,
                packed ? "matmul_epilogue_vw" : "matmul_epilogue",
                KernelCatalog.finishing(dtype, activation == null ? null : activation.fn()));
        long blocks = Math.ceilDiv(height * width / (packed ? widest : 1), THREADS);
        long most = (long) kernels.context().device().multiprocessors() * BLOCKS_A_MULTIPROCESSOR;
        LaunchShape launch =
                LaunchShape.of((int) Math.min(blocks, most), THREADS).withProgrammatic();
        return new Finish(dtype, height, width, new Function(activation), launch, kernel);
    }

    /** An activation as kernels take it. */
    private record Function(int code, double alpha, double beta) {
        Function(@Nullable Unary activation) {
            this(
                    activation == null
                            ? KernelCatalog.NO_FUNCTION
                            : activation.fn().code(),
                    activation == null ? 0 : activation.alpha(),
                    activation == null ? 0 : activation.beta());
        }

        void add(KernelArguments arguments, DType dtype) {
            arguments.add(code);
            if (dtype == DType.F64) {
                arguments.add(alpha).add(beta);
            } else {
                arguments.add((float) alpha).add((float) beta);
            }
        }
    }

    /** A prepared product. Immutable; enqueue with a slab of the calling thread. */
    public static final class Product {
        private final String entry;
        private final DType dtype;
        private final MatMulShape shape;
        private final Function activation;
        private final LaunchShape launch;
        private final Kernel kernel;

        private Product(
                String entry, DType dtype, MatMulShape shape, Function activation, LaunchShape launch, Kernel kernel) {
            this.entry = entry;
            this.dtype = dtype;
            this.shape = shape;
            this.activation = activation;
            this.launch = launch;
            this.kernel = kernel;
        }

        /** The kernel's name. */
        public String entry() {
            return entry;
        }

        /**
         * Enqueues it.
         *
         * @param bias 0 for none
         * @param residual 0 for none
         */
        public void enqueue(
                GpuStream stream, KernelArguments arguments, long a, long b, long bias, long residual, long y) {
            arguments
                    .clear()
                    .add(a)
                    .add(b)
                    .add(bias)
                    .add(residual)
                    .add(y)
                    .add(shape.m())
                    .add(shape.n())
                    .add(shape.k())
                    .add(shape.matrices())
                    .add(shape.transposeA() ? 1 : 0)
                    .add(shape.transposeB() ? 1 : 0);
            addInner(arguments, shape.batch(), 1, BATCH_DIMS - 1);
            addInner(arguments, shape.stridesA(), 0, BATCH_DIMS);
            addInner(arguments, shape.stridesB(), 0, BATCH_DIMS);
            activation.add(arguments, dtype);
            stream.launch(kernel.function(), launch, arguments);
        }

        /** The last {@code count} of the values, with others before them where there are fewer. */
        private static void addInner(KernelArguments arguments, List<Long> values, long other, int count) {
            for (int i = values.size() - count; i < values.size(); i++) {
                arguments.add(i < 0 ? other : (long) values.get(i));
            }
        }
    }

    /** A prepared epilogue. Immutable. */
    public static final class Finish {
        private final DType dtype;
        private final long rows;
        private final long n;
        private final Function activation;
        private final LaunchShape launch;
        private final Kernel kernel;

        private Finish(DType dtype, long rows, long n, Function activation, LaunchShape launch, Kernel kernel) {
            this.dtype = dtype;
            this.rows = rows;
            this.n = n;
            this.activation = activation;
            this.launch = launch;
            this.kernel = kernel;
        }

        /**
         * Enqueues it. y may be x or the residual.
         *
         * @param bias 0 for none
         * @param residual 0 for none
         */
        public void enqueue(GpuStream stream, KernelArguments arguments, long x, long bias, long residual, long y) {
            arguments.clear().add(x).add(bias).add(residual).add(y).add(rows).add(n);
            activation.add(arguments, dtype);
            stream.launch(kernel.function(), launch, arguments);
        }
    }
}
