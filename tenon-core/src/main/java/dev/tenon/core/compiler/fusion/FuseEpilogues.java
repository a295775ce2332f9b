package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.contraction.Contraction;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.movement.Reshape;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code activation(contraction(a, b) + bias) + residual → contraction(a, b, bias, residual)}, piece by piece, where
 * each intermediate has one consumer; of a convolution also {@code activation(conv(x, w) + bias + residual)}.
 */
public final class FuseEpilogues implements Pass {
    @Override
    public String name() {
        return "fuse-epilogues";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        Graph before;
        Graph after = graph;
        do { // each walk takes in one more piece
            before = after;
            after = Rewriter.rewrite(before, Set.of(Unary.class, Binary.class), FuseEpilogues::fuse);
        } while (after != before);
        return after;
    }

    private static @Nullable List<Value> fuse(Node node, Rewriter into) {
        if (node.op() instanceof Unary activation) {
            return fuseActivation(node, activation, into);
        }
        if (node.op() instanceof Binary(BinaryFn fn) && fn == BinaryFn.ADD) {
            List<Value> fused = fuseAddition(node, node.input(0), node.input(1), into);
            return fused != null ? fused : fuseAddition(node, node.input(1), node.input(0), into);
        }
        return null;
    }

    private static @Nullable List<Value> fuseActivation(Node node, Unary activation, Rewriter into) {
        Node producer = producer(node.input(0), into);
        // a function of each element keeps the shape, whether or not that is known
        if (producer == null
                || node.output().dtype() != node.input(0).dtype()
                || !node.output().dtype().isFloat()) {
            return null;
        }
        Contraction contraction = (Contraction) producer.op();
        Epilogue epilogue = contraction.epilogue();
        if (epilogue.activation() != null || (epilogue.residual() && !contraction.takesResidualFirst())) {
            return null;
        }
        return into.addAll(contraction.with(epilogue.withActivation(activation)), into.map(producer.inputs()));
    }

    private static @Nullable List<Value> fuseAddition(Node node, Value sum, Value added, Rewriter into) {
        Node producer = producer(sum, into);
        if (producer == null
                || !node.output().type().mustEqual(sum.type())
                || !sum.dtype().isFloat()) {
            return null;
        }
        Contraction contraction = (Contraction) producer.op();
        Epilogue epilogue = contraction.epilogue();
        if (epilogue.residual()) {
            return null;
        }
        List<Value> operands = new ArrayList<>(into.map(producer.inputs()));
        boolean takesBias = !epilogue.bias() && epilogue.activation() == null;
        if (takesBias
                && isBias(
                        added.shape(),
                        sum.shape(),
                        contraction.biasAxis(sum.shape().rank()))) {
            Value mapped = into.map(added);
            operands.add(
                    added.shape().rank() == 1
                            ? mapped
                            : into.add(new Reshape(List.of(added.shape().elements())), mapped));
            return into.addAll(contraction.with(epilogue.withBias()), operands);
        }
        // an addend made by another contraction could absorb this one as well: either order is right
        if (added.shape().mustEqual(sum.shape()) && !added.equals(sum)) {
            operands.add(into.map(added));
            return into.addAll(contraction.with(epilogue.withResidual()), operands);
        }
        return null;
    }

    /** Whether a shape is one number for each index of an axis of the result. */
    private static boolean isBias(Shape bias, Shape result, int axis) {
        if (!bias.isConcrete()
                || bias.rank() > result.rank()
                || bias.rank() < result.rank() - axis
                || !result.dim(axis).isFixed()) {
            return false;
        }
        int at = axis - (result.rank() - bias.rank());
        return bias.elements() == bias.size(at) && bias.size(at) == result.size(axis);
    }

    /** The contraction that makes a value which nothing else uses. */
    private static @Nullable Node producer(Value value, Rewriter into) {
        Node producer = Match.producer(value);
        return producer != null && producer.op() instanceof Contraction && into.isPrivate(value) ? producer : null;
    }
}
