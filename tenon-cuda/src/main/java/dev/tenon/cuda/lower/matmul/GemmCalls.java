package dev.tenon.cuda.lower.matmul;

import dev.tenon.cuda.blas.BlasHandle;
import dev.tenon.cuda.blas.GemmProblem;
import dev.tenon.cuda.kernel.MatMulShape;
import java.util.ArrayList;
import java.util.List;

/**
 * A product as calls of cuBLAS: one strided call for the innermost dim of the batch, again for each index of the
 * others, and in pieces where there are more matrices than a grid has room for. Immutable.
 */
final class GemmCalls {
    /** The library's kernels put matrices along a grid's z. */
    private static final long MOST_MATRICES = 65535;

    /** One call, and where it starts, in bytes. */
    private record Call(GemmProblem problem, long a, long b, long d) {}

    private final List<Call> calls;

    /** @param problem of any number of matrices */
    GemmCalls(GemmProblem problem, MatMulShape shape) {
        List<Call> made = new ArrayList<>();
        long matrices = shape.inner(1).matrices();
        int operand = problem.operands().bytes();
        int result = problem.result().bytes();
        for (MatMulShape.Start start : shape.starts(1)) {
            for (long at = 0; at < matrices; at += MOST_MATRICES) {
                made.add(new Call(
                        problem.plain(Math.min(MOST_MATRICES, matrices - at)),
                        (start.a() + at * problem.strideA()) * operand,
                        (start.b() + at * problem.strideB()) * operand,
                        (start.y() + at * shape.m() * shape.n()) * result));
            }
        }
        calls = List.copyOf(made);
    }

    /** How many calls a product takes. */
    static long count(MatMulShape shape) {
        return shape.parts(1) * Math.ceilDiv(shape.inner(1).matrices(), MOST_MATRICES);
    }

    void enqueue(BlasHandle blas, long a, long b, long d, long workspace) {
        for (int i = 0; i < calls.size(); i++) {
            Call call = calls.get(i);
            blas.multiply(call.problem, a + call.a, b + call.b, d + call.d, workspace);
        }
    }
}
