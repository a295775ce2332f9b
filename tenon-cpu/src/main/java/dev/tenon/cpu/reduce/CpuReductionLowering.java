package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.cpu.loops.TileKind;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import java.util.ArrayList;
import java.util.List;

/** Reductions. */
public final class CpuReductionLowering {
    /** From here on a run of reduced elements, or of columns, is worth a vector loop. */
    private static final long RUN = 16;

    /** Columns that are worth a loop over each row. */
    private static final long COLUMNS = 8;

    private CpuReductionLowering() {}

    public static CpuStep lower(Reduce op, Node node, CpuLoweringContext context) {
        Value x = node.input(0);
        DType dtype = x.dtype();
        Walk kept = walk(x.shape(), op, false);
        Walk reduced = walk(x.shape(), op, true);
        int input = context.slot(x);
        int output = context.slot(node.output());
        if (TileKind.of(dtype) == TileKind.FLOAT && reduced.elements() > 0 && kept.elements() > 0) {
            if (reduced.innerStride() == 1 && reduced.inner() >= RUN) {
                return new RowReduceStep(op.fn(), dtype, kept, reduced, input, output);
            }
            long inner = kept.inner();
            if (op.fn() == ReduceFn.LOG_SUM_EXP && kept.innerStride() == 1 && isMiddle(kept, reduced)) {
                long outer = kept.elements() / inner;
                return new ColumnLogSumExpStep(dtype, outer, reduced.elements(), inner, input, output);
            }
            boolean together = ColumnReduceStep.together(kept, reduced) > 1;
            if (kept.innerStride() == 1 && (kept.inner() >= COLUMNS || together)) {
                return new ColumnReduceStep(op.fn(), dtype, kept, reduced, input, output);
            }
        }
        return new LaneReduceStep(op.fn(), dtype, kept, reduced, input, output);
    }

    /** Whether what is kept are slabs one behind the other, and what is reduced are their rows. */
    private static boolean isMiddle(Walk kept, Walk reduced) {
        long slab = SizeMath.product("reduce", kept.inner(), reduced.elements());
        return reduced.isSingle() && reduced.innerStride() == kept.inner() && kept.outerStride(slab) == slab;
    }

    /** The axes that are reduced, or those that are kept, with the input's strides; neighbours in memory are one. */
    private static Walk walk(Shape shape, Reduce op, boolean reduced) {
        long[] strides = shape.strides();
        List<Long> sizes = new ArrayList<>();
        List<Long> steps = new ArrayList<>();
        for (int axis = 0; axis < shape.rank(); axis++) {
            if (op.axes().contains(axis) != reduced || shape.size(axis) == 1) {
                continue;
            }
            int last = sizes.size() - 1;
            if (last >= 0 && steps.get(last) == SizeMath.product("reduce", strides[axis], shape.size(axis))) {
                sizes.set(last, SizeMath.product("reduce", sizes.get(last), shape.size(axis)));
                steps.set(last, strides[axis]);
            } else {
                sizes.add(shape.size(axis));
                steps.add(strides[axis]);
            }
        }
        return new Walk(
                sizes.stream().mapToLong(Long::longValue).toArray(),
                steps.stream().mapToLong(Long::longValue).toArray());
    }

    /** Some axes of a tensor, outermost first. */
    static final class Walk {
        private final long[] sizes;
        private final long[] strides;

        Walk(long[] sizes, long[] strides) {
            this.sizes = sizes;
            this.strides = strides;
        }

        long elements() {
            long product = 1;
            for (long size : sizes) {
                product *= size;
            }
            return product;
        }

        /** From an inner run of axes to the next: -1 if there are more than two axes, what is given if there is one. */
        long outerStride(long single) {
            return sizes.length > 2 ? -1 : sizes.length < 2 ? single : strides[0];
        }

        boolean isSingle() {
            return sizes.length == 1;
        }

        long inner() {
            return sizes.length == 0 ? 1 : sizes[sizes.length - 1];
        }

        long innerStride() {
            return sizes.length == 0 ? 1 : strides[sizes.length - 1];
        }

        /** The element at a row-major position among these axes. */
        long at(long position) {
            long rest = position;
            long element = 0;
            for (int d = sizes.length - 1; d > 0; d--) {
                element += rest % sizes[d] * strides[d];
                rest /= sizes[d];
            }
            return sizes.length == 0 ? 0 : element + rest * strides[0];
        }
    }
}
