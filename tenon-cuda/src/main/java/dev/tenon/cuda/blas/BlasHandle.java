package dev.tenon.cuda.blas;

import dev.tenon.cuda.port.GpuStream;
import dev.tenon.nativelib.cublas.Cublas;
import dev.tenon.nativelib.cublas.CublasConstants;
import dev.tenon.nativelib.cublas.CublasLibrary;
import org.jspecify.annotations.Nullable;

/**
 * A session's handle for library calls, bound to one stream. Used by one thread at a time. Once cuBLAS is started,
 * calls only enqueue, and may be captured: the workspace is the caller's, so the library allocates nothing.
 */
public final class BlasHandle implements AutoCloseable {
    private final Blas blas;
    private final GpuStream stream;
    /** Of cuBLAS, started by the first call of it; 0 before. */
    private long handle;

    private final Runnable gemm = this::callGemm;
    private final Runnable matmul = this::callMatmul;

    /** The one that cuBLAS was told of last. */
    private long given;

    private boolean closed;

    // the call that is being made: fields, so that making one allocates nothing
    private @Nullable GemmProblem problem;
    private @Nullable LtProduct product;
    private long a;
    private long b;
    private long c;
    private long d;
    private long bias;
    private long workspace;

    BlasHandle(Blas blas, GpuStream stream) {
        this.blas = blas;
        this.stream = stream;
    }

    /**
     * Starts cuBLAS, if that has not been done: before the first product by it is recorded.
     *
     * @throws dev.tenon.core.error.UnsupportedException where there is none
     */
    public void start() {
        if (handle == 0) {
            handle = blas.startOn(stream);
        }
    }

    /**
     * {@code d = a b} by cuBLAS.
     *
     * @param plain a problem without addend, bias and activation
     * @param workspace {@link Blas#workspaceBytes()} of device memory that belongs to this stream
     * @throws dev.tenon.core.error.UnsupportedException where there is no cuBLAS
     */
    public void multiply(GemmProblem plain, long a, long b, long d, long workspace) {
        if (plain.addend() || plain.bias() || plain.activation() != GemmProblem.Activation.NONE) {
            throw new IllegalArgumentException("cuBLAS makes plain products: " + plain);
        }
        start();
        problem = plain;
        operands(a, b, d, workspace);
        stream.call(gemm);
    }

    /**
     * A prepared product by cuBLASLt.
     *
     * @param c the addend, 0 for none; d may not overlap it unless it is it
     * @param bias 0 for none
     * @param workspace as in the other
     */
    public void multiply(LtProduct prepared, long a, long b, long c, long d, long bias, long workspace) {
        product = prepared;
        operands(a, b, d, workspace);
        this.c = c;
        this.bias = bias;
        if (!prepared.problem.bias()) {
            stream.call(matmul);
            return;
        }
        // taken before the call's section, in which nothing may block
        prepared.lock.lock();
        try {
            stream.call(matmul);
        } finally {
            prepared.lock.unlock();
        }
    }

    private void operands(long fromA, long fromB, long toD, long workspaceAddress) {
        a = fromA;
        b = fromB;
        d = toD;
        workspace = workspaceAddress;
    }

    private void callMatmul() {
        if (product != null) {
            product.call(a, b, c, d, bias, workspace, stream.handle());
        }
    }

    /** Row-major operands are the transposes of column-major ones: the library computes {@code dᵀ = bᵀ aᵀ}. */
    private void callGemm() {
        GemmProblem p = problem;
        if (p == null) {
            return;
        }
        if (given != workspace) {
            CublasLibrary.CHECK.check(
                    Cublas.cublasSetWorkspace(handle, workspace, blas.workspaceBytes()), "cublasSetWorkspace()");
            given = workspace;
        }
        int operandType = GemmTypes.data(p.operands());
        int status = Cublas.cublasGemmStridedBatchedEx(
                handle,
                GemmTypes.operation(p.transposeB()),
                GemmTypes.operation(p.transposeA()),
                p.n(),
                p.m(),
                p.k(),
                GemmTypes.one(p),
                b,
                operandType,
                p.rowB(),
                p.strideB(),
                a,
                operandType,
                p.rowA(),
                p.strideA(),
                GemmTypes.zero(p),
                d,
                GemmTypes.data(p.result()),
                p.n(),
                p.m() * p.n(),
                p.batches(),
                GemmTypes.compute(p),
                CublasConstants.GEMM_DEFAULT);
        if (status != 0) {
            CublasLibrary.CHECK.check(status, "cublasGemmStridedBatchedEx(%s)", p);
        }
    }

    /** Idempotent. Waits for the device, as the library does. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            blas.destroy(handle); // of 0 does nothing
        }
    }
}
