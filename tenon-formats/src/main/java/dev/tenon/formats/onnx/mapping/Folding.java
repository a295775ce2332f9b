package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Control;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.control.Scan;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.filling.SizeOf;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Arithmetic on shapes, done while importing where all numbers are there: axes and sizes that exporters compute are
 * then constants like those that they write down, and a branch that a shape decides against is never read.
 *
 * <p>Integers and booleans only, and few of them; folding for speed is the compiler's.
 */
final class Folding {
    private static final long LARGEST = 64;

    private Folding() {}

    /** The results as constants; null where they cannot be told or are not small. */
    static @Nullable List<ConstantData> of(Op op, List<Value> operands) {
        if (op instanceof ShapeOf(long start, long end)) {
            return sizes(operands.getFirst().shape(), start, end);
        }
        if (op instanceof SizeOf) {
            Shape shape = operands.getFirst().shape();
            return shape.isConcrete()
                    ? List.of(NdArray.of(TensorType.of(DType.I64), shape.elements())
                            .toConstant())
                    : null;
        }
        if (op instanceof Control || op instanceof Scan) {
            return null; // a loop may run for ever, and importing must not
        }
        List<NdArray> known = new ArrayList<>();
        for (Value operand : operands) {
            if (!(operand.origin() instanceof Value.Origin.Constant(ConstantData data)) || !isSmall(data.type())) {
                return null;
            }
            known.add(NdArray.of(data));
        }
        return known.isEmpty() ? null : run(op, known);
    }

    private static @Nullable List<ConstantData> run(Op op, List<NdArray> operands) {
        try {
            // the rule first: it tells the size before anything of that size is made
            for (TensorType type : op.infer(operands.stream().map(NdArray::type).toList())) {
                if (type.dtype().isFloat() || (type.shape().isConcrete() && !isSmall(type))) {
                    return null;
                }
            }
            List<ConstantData> results = new ArrayList<>();
            for (NdArray result : Interpreter.run(op, operands)) {
                if (!isSmall(result.type())) {
                    return null;
                }
                results.add(result.toConstant());
            }
            return results;
        } catch (TenonException e) {
            // the node stays, so that the fault is reported where and when it happens
            return null;
        }
    }

    private static boolean isSmall(TensorType type) {
        return !type.dtype().isFloat()
                && type.shape().isConcrete()
                && type.shape().elements() <= LARGEST;
    }

    private static @Nullable List<ConstantData> sizes(Shape shape, long start, long end) {
        if (!shape.isRanked()) {
            return null;
        }
        int rank = shape.rank();
        int from = clamped(start, rank);
        int to = Math.max(from, clamped(end, rank));
        Shape range = shape.range(from, to);
        return range.isConcrete() ? List.of(NdArray.ofLongs(range.sizes()).toConstant()) : null;
    }

    private static int clamped(long axis, int rank) {
        return (int) Math.max(0, Math.min(rank, axis < 0 ? axis + rank : axis));
    }
}
