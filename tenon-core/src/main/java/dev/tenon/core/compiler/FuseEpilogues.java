package dev.tenon.core.compiler;

import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.Binary;
import dev.tenon.core.ir.op.BinaryFn;
import dev.tenon.core.ir.op.Conv;
import dev.tenon.core.ir.op.ConvTranspose;
import dev.tenon.core.ir.op.Epilogue;
import dev.tenon.core.ir.op.MatMul;
import dev.tenon.core.ir.op.Reshape;
import dev.tenon.core.ir.op.Unary;
import dev.tenon.core.ir.op.UnaryFn;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code activation(contraction(a, b) + bias) + residual → contraction(a, b, bias, residual)}, piece by piece, where each intermediate has one consumer. */
final class FuseEpilogues implements Pass {
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
            after = Rewriter.rewrite(before, FuseEpilogues::fuse);
        } while (after != before);
        return after;
    }

    private static @Nullable List<Value> fuse(Node node, Rewriter into) {
        return switch (node.op()) {
            case Unary activation -> fuseActivation(node, activation, into);
            case Binary(BinaryFn fn)
            when fn == BinaryFn.ADD -> {
                List<Value> fused = fuseAddition(node, node.input(0), node.input(1), into);
                yield fused != null ? fused : fuseAddition(node, node.input(1), node.input(0), into);
            }
            default -> null;
        };
    }

    private static @Nullable List<Value> fuseActivation(Node node, Unary activation, Rewriter into) {
        Node producer = contraction(node.input(0), into);
        if (producer == null
                || !node.output().type().equals(node.input(0).type())
                || activation.fn() == UnaryFn.NOT
                || !node.output().dtype().isFloat()) {
            return null;
        }
        Epilogue epilogue = epilogue(producer.op());
        if (epilogue.activation() != null || epilogue.residual()) {
            return null;
        }
        return into.addAll(with(producer.op(), epilogue.withActivation(activation)), into.map(producer.inputs()));
    }

    private static @Nullable List<Value> fuseAddition(Node node, Value sum, Value added, Rewriter into) {
        Node producer = contraction(sum, into);
        if (producer == null
                || !node.output().type().equals(sum.type())
                || !sum.dtype().isFloat()) {
            return null;
        }
        Epilogue epilogue = epilogue(producer.op());
        if (epilogue.residual()) {
            return null;
        }
        List<Value> operands = new ArrayList<>(into.map(producer.inputs()));
        if (isBias(producer.op(), added.shape(), sum.shape()) && !epilogue.bias() && epilogue.activation() == null) {
            Value mapped = into.map(added);
            operands.add(
                    added.shape().rank() == 1
                            ? mapped
                            : into.add(new Reshape(List.of(added.shape().elements())), mapped));
            return into.addAll(with(producer.op(), epilogue.withBias()), operands);
        }
        // an addend made by another contraction could absorb this one as well: either order is right
        if (added.shape().equals(sum.shape()) && added != sum) {
            operands.add(into.map(added));
            return into.addAll(with(producer.op(), epilogue.withResidual()), operands);
        }
        return null;
    }

    /** Whether a shape is one number for each column of a matrix product, or each channel of a convolution. */
    private static boolean isBias(Op op, Shape bias, Shape result) {
        int axis = op instanceof MatMul ? result.rank() - 1 : 1;
        if (!bias.isConcrete()
                || bias.rank() > result.rank()
                || bias.rank() < result.rank() - axis
                || !result.dim(axis).isFixed()) {
            return false;
        }
        int at = axis - (result.rank() - bias.rank());
        return bias.elements() == bias.size(at) && bias.size(at) == result.size(axis);
    }

    private static @Nullable Node contraction(Value value, Rewriter into) {
        Node producer = Match.producer(value);
        boolean takesEpilogue = producer != null
                && (producer.op() instanceof MatMul
                        || producer.op() instanceof Conv
                        || producer.op() instanceof ConvTranspose);
        return takesEpilogue && into.isPrivate(value) ? producer : null;
    }

    private static Epilogue epilogue(Op op) {
        return switch (op) {
            case MatMul matmul -> matmul.epilogue();
            case Conv conv -> conv.epilogue();
            case ConvTranspose conv -> conv.epilogue();
            default -> throw new IllegalArgumentException(op.mnemonic());
        };
    }

    private static Op with(Op op, Epilogue epilogue) {
        return switch (op) {
            case MatMul m -> new MatMul(m.transposeA(), m.transposeB(), epilogue);
            case Conv c -> new Conv(c.strides(), c.padsBefore(), c.padsAfter(), c.dilations(), c.groups(), epilogue);
            case ConvTranspose c ->
                new ConvTranspose(
                        c.strides(),
                        c.padsBefore(),
                        c.padsAfter(),
                        c.dilations(),
                        c.outputPadding(),
                        c.groups(),
                        epilogue);
            default -> throw new IllegalArgumentException(op.mnemonic());
        };
    }
}
