package dev.tenon.core.report;

import dev.tenon.core.error.Require;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.ProjectedAttention;
import dev.tenon.core.ir.op.attention.PrologueMatMul;
import dev.tenon.core.ir.op.contraction.DequantMatMul;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.normalisation.NormedMatMul;
import java.util.HashSet;
import java.util.Set;

/**
 * What a step must move and compute at least, by its types: what a device that did nothing else would need time for.
 *
 * @param bytes of distinct operands, read once, and of results, written once
 * @param operations multiplications and additions of products, convolutions and attention; 0 for other operations,
 *     which memory bounds
 */
public record StepCost(long bytes, long operations) {
    /** Returns the cost of a node with concrete types; saturates where a number is past 2^63. */
    public static StepCost of(Node node) {
        Require.nonNull(node, "node");
        long bytes = 0;
        Set<Value> read = new HashSet<>(node.inputs());
        for (Value value : read) {
            bytes += reads(node, value);
        }
        for (Value value : node.outputs()) {
            bytes += bytes(value);
        }
        return new StepCost(bytes, operations(node));
    }

    /** What is read of an operand: of one that is picked from, no more than was picked. */
    private static long reads(Node node, Value operand) {
        boolean picked = operand.equals(node.input(0))
                && (node.op() instanceof Gather || node.op() instanceof GatherNd || node.op() instanceof Slice);
        return picked ? Math.min(bytes(operand), bytes(node.output())) : bytes(operand);
    }

    private static long bytes(Value value) {
        return value.shape().isConcrete() ? value.type().bytes() : 0;
    }

    private static long operations(Node node) {
        if (node.inputs().isEmpty() // random numbers
                || !node.output().shape().isConcrete()
                || !node.input(0).shape().isConcrete()) {
            return 0;
        }
        Shape x = node.input(0).shape();
        Shape y = node.output().shape();
        return switch (node.op()) {
            case MatMul op -> twice(y.elements(), x.size(x.rank() - (op.transposeA() ? 2 : 1)));
            case NormedMatMul op ->
                twice(y.elements(), x.size(x.rank() - (op.product().transposeA() ? 2 : 1)));
            case PrologueMatMul op -> {
                Shape weight = node.input(op.prologues()).shape();
                yield twice(
                        y.elements(), weight.size(weight.rank() - (op.product().transposeB() ? 1 : 2)));
            }
            case DequantMatMul _, ScaledMatMul _ -> twice(y.elements(), x.size(x.rank() - 1));
            case Conv _ -> {
                Shape weights = node.input(1).shape();
                yield weights.isConcrete() ? twice(y.elements(), weights.elements(1, weights.rank())) : 0;
            }
            case PlainAttention op -> {
                Shape keys = op.packed() ? x : node.input(1).shape();
                yield 2 * twice(y.elements(), keys.size(1));
            }
            case ProjectedAttention op -> {
                long sums = x.size(x.rank() - (op.product().transposeA() ? 2 : 1));
                yield 3 * twice(y.elements(), sums) + 2 * twice(y.elements(), y.size(1));
            }
            default -> 0;
        };
    }

    private static long twice(long results, long sums) {
        return SizeMath.product("operations", 2, results, sums);
    }
}
