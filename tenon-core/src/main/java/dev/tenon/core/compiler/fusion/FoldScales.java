package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.contraction.Contraction;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.movement.Transpose;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code (x w + b) · s → x (w s) + b s} for constants, s one factor per column of a product or output channel of a
 * convolution, as the layer scales of vision models; transpositions may stand between. Weights are multiplied in double
 * and rounded once. Left as it is where a factor is not finite or a weight or bias would not be, and where the weights
 * of a column would become so small that 16-bit floats have no more than half their digits for them.
 */
public final class FoldScales implements Pass {
    /** The largest weight of a column that f16 still has 9 bits for. */
    private static final double LEAST_HALF = 0x1p-16;

    @Override
    public String name() {
        return "fold-scales";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        boolean halves = context.half() != null && context.half().dtype() == DType.F16;
        return Rewriter.rewrite(graph, Set.of(Binary.class), (node, into) -> fold(node, halves, into));
    }

    private static @Nullable List<Value> fold(Node node, boolean halves, Rewriter into) {
        if (!(node.op() instanceof Binary(BinaryFn fn)) || fn != BinaryFn.MUL) {
            return null;
        }
        List<Value> folded = fold(node, node.input(0), node.input(1), halves, into);
        return folded != null ? folded : fold(node, node.input(1), node.input(0), halves, into);
    }

    private static @Nullable List<Value> fold(Node node, Value scaled, Value scale, boolean halves, Rewriter into) {
        Shape shape = scaled.shape();
        int axis = axis(scale, shape);
        if (axis < 0
                || !node.output().type().mustEqual(scaled.type())
                || !scaled.dtype().isFloat()) {
            return null;
        }
        double[] factors = ScaledConstants.elements(scale);
        if (!ScaledConstants.isFinite(factors)) {
            return null;
        }
        Value result = new Walk(factors, halves, into).scaled(scaled, axis);
        return result == null ? null : List.of(result);
    }

    /** The axis along which a constant has its elements, which is that of a value's; -1 for none. */
    private static int axis(Value constant, Shape shape) {
        Shape own = constant.shape();
        if (constant.constant() == null || !shape.isRanked() || own.rank() > shape.rank() || own.rank() == 0) {
            return -1;
        }
        for (int i = 0; i < own.rank(); i++) {
            int axis = shape.rank() - own.rank() + i;
            if (own.size(i) > 1 || i == own.rank() - 1) {
                boolean whole =
                        own.elements() == own.size(i) && shape.dim(axis).isFixed() && shape.size(axis) == own.size(i);
                return whole ? axis : -1;
            }
        }
        return -1;
    }

    /** From the product with the factors back to what makes its columns. */
    private static final class Walk {
        private final double[] factors;
        private final boolean halves;
        private final Rewriter into;

        Walk(double[] factors, boolean halves, Rewriter into) {
            this.factors = factors;
            this.halves = halves;
            this.into = into;
        }

        /** The value with the factors along an axis in it; null where they find no weights. */
        @Nullable
        Value scaled(Value value, int axis) {
            Node node = Match.producer(value);
            if (node == null || !into.isPrivate(value)) {
                return null;
            }
            return switch (node.op()) {
                case Transpose op -> {
                    Value before = scaled(node.input(0), op.permutation().get(axis));
                    yield before == null ? null : into.add(op, before);
                }
                case Binary(BinaryFn fn) when fn == BinaryFn.ADD -> sum(node, axis);
                case MatMul op
                when node.input(1).shape().rank() == 2 -> contraction(op, node, axis, op.transposeB() ? 0 : 1);
                case Conv op -> contraction(op, node, axis, 0);
                default -> null;
            };
        }

        private @Nullable Value sum(Node node, int axis) {
            for (int i = 0; i < 2; i++) {
                Value addend = node.input(i);
                Value sum = node.input(1 - i);
                if (axis(addend, node.output().shape()) == axis
                        && node.output().type().mustEqual(sum.type())) {
                    double[] addends = times(ScaledConstants.elements(addend));
                    Value before = ScaledConstants.isFinite(addend.dtype(), addends) ? scaled(sum, axis) : null;
                    return before == null
                            ? null
                            : into.add(
                                    node.op(),
                                    before,
                                    into.constant(ScaledConstants.dense(addend.dtype(), addend.shape(), addends)));
                }
            }
            return null;
        }

        /** @param along the axis of the weights that has the columns */
        private @Nullable Value contraction(Contraction op, Node node, int axis, int along) {
            Epilogue epilogue = op.epilogue();
            ConstantData weights = node.input(1).constant();
            boolean plain = epilogue.activation() == null
                    && !epilogue.residual()
                    && (!epilogue.bias() || node.input(2).constant() != null);
            if (!plain
                    || weights == null
                    || axis != op.biasAxis(node.output().shape().rank())
                    || !staysInRange(weights, along)) {
                return null;
            }
            List<Value> operands = new ArrayList<>();
            operands.add(into.map(node.input(0)));
            ConstantData scaled = ScaledConstants.along(along, weights, factors);
            if (scaled == null) {
                return null;
            }
            operands.add(into.constant(scaled));
            if (epilogue.bias()) {
                Value bias = node.input(2);
                double[] addends = times(ScaledConstants.elements(bias));
                if (!ScaledConstants.isFinite(bias.dtype(), addends)) {
                    return null;
                }
                operands.add(into.constant(ScaledConstants.dense(bias.dtype(), bias.shape(), addends)));
            }
            return into.addAll(op.with(epilogue), operands).getFirst();
        }

        private double[] times(double[] values) {
            double[] products = new double[values.length];
            for (int i = 0; i < products.length; i++) {
                products[i] = values[i] * factors[i];
            }
            return products;
        }

        /** Whether no column leaves the range of its type. */
        private boolean staysInRange(ConstantData weights, int along) {
            DType dtype = weights.type().dtype();
            boolean half = halves || dtype == DType.F16;
            double[] largest = times(ScaledConstants.largest(along, weights));
            for (double after : largest) {
                if (half && after != 0 && Math.abs(after) < LEAST_HALF) {
                    return false;
                }
            }
            return ScaledConstants.isFinite(dtype, largest);
        }
    }
}
