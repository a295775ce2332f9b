package dev.tenon.cuda.lower.reduce;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.cuda.kernel.ReduceKernels;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.NoWork;
import java.util.ArrayList;
import java.util.List;

/** Reductions. */
public final class GpuReductionLowering {
    private GpuReductionLowering() {}

    private record Reduction(ReduceKernels.Launch launch, int input, int output) implements GpuStep {
        @Override
        public void enqueue(GpuFrame frame) {
            launch.enqueue(frame.stream(), frame.arguments(), frame.at(input), frame.at(output), frame.workspace());
        }

        @Override
        public String tier() {
            return launch.tier();
        }

        @Override
        public long workspaceBytes() {
            return launch.workspaceBytes();
        }
    }

    public static GpuStep lower(Reduce op, Node node, GpuLoweringContext context) {
        Value x = node.input(0);
        if (node.output().shape().elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        DType dtype = x.dtype();
        if (op.fn() == ReduceFn.MEAN && !dtype.isFloat() && x.shape().elements() == 0) {
            throw new DataException("reduce mean: of no " + dtype + " elements; expected one or more");
        }
        GpuStep middle = MiddleReduction.step(op, node, context);
        if (middle != null) {
            return middle;
        }
        ReduceKernels.Launch launch = new ReduceKernels(context.kernels())
                .reduce(op.fn(), dtype, dims(x.shape(), op, false), dims(x.shape(), op, true));
        return new Reduction(launch, context.slot(x), context.slot(node.output()));
    }

    /** The axes that are reduced, or those that are kept, with x's strides; neighbours in memory are one. */
    private static ReduceKernels.Dims dims(Shape shape, Reduce op, boolean reduced) {
        long[] strides = shape.strides();
        List<long[]> dims = new ArrayList<>();
        for (int axis = 0; axis < shape.rank(); axis++) {
            if (op.axes().contains(axis) != reduced || shape.size(axis) == 1) {
                continue;
            }
            long[] outer = dims.isEmpty() ? new long[] {0, -1} : dims.getLast();
            if (outer[1] == SizeMath.product("reduce", strides[axis], shape.size(axis))) {
                dims.set(
                        dims.size() - 1,
                        new long[] {SizeMath.product("reduce", outer[0], shape.size(axis)), strides[axis]});
            } else {
                dims.add(new long[] {shape.size(axis), strides[axis]});
            }
        }
        return new ReduceKernels.Dims(
                dims.stream().mapToLong(dim -> dim[0]).toArray(),
                dims.stream().mapToLong(dim -> dim[1]).toArray());
    }
}
