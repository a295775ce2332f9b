package dev.tenon.cuda.dnn;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.tuning.Tunable;
import dev.tenon.nativelib.cudnn.Cudnn;
import java.util.List;

/** One of cuDNN's engines for a convolution. Used by one thread. */
final class DnnTrial implements Tunable.Trial {
    private final Dnn dnn;
    private final DnnPlan operation;
    private final DnnProblem problem;
    private final DnnEngine engine;
    private long plan;

    DnnTrial(Dnn dnn, DnnPlan operation, DnnProblem problem, DnnEngine engine) {
        this.dnn = dnn;
        this.operation = operation;
        this.problem = problem;
        this.engine = engine;
    }

    /** Bytes of the operands and of as much workspace as any plan may have. */
    static long bytes(DnnProblem problem, long workspaceBytes) {
        return bytes(problem, problem.x())
                + bytes(problem, problem.w())
                + 2 * bytes(problem, problem.y())
                + bytes(problem, problem.y().subList(1, 2))
                + workspaceBytes;
    }

    private static long bytes(DnnProblem problem, List<Long> sizes) {
        long elements = 1;
        for (long size : sizes) {
            elements = SizeMath.product("conv", elements, size);
        }
        return Tunable.whole(problem.dtype().bytesFor(elements));
    }

    @Override
    public String algorithm() {
        return engine.words();
    }

    @Override
    public boolean prepare() {
        plan = dnn.plan(problem, engine);
        return plan != 0;
    }

    @Override
    public void enqueue(GpuStream stream, DeviceBuffer memory) {
        long base = memory.address();
        long w = base + bytes(problem, problem.x());
        long y = w + bytes(problem, problem.w());
        long residual = y + bytes(problem, problem.y());
        long bias = residual + bytes(problem, problem.y());
        long workspace = bias + bytes(problem, problem.y().subList(1, 2));
        operation.enqueue(
                plan,
                stream,
                base,
                w,
                y,
                problem.bias() ? bias : 0,
                problem.residual() || problem.residualFirst() ? residual : 0,
                workspace);
    }

    @Override
    public void close() {
        if (plan != 0) {
            Cudnn.cudnnBackendDestroyDescriptor(plan);
            plan = 0;
        }
    }
}
