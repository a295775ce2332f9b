package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import java.util.ArrayList;
import java.util.List;

/**
 * Operators of the domain com.microsoft, which ONNX Runtime's optimiser writes in the place of several (its
 * ContribOperators.md). They become those several again: what is one operation here is for each backend to say.
 */
final class MicrosoftMapping {
    /** ONNX Runtime's, for all norms of this domain. */
    private static final double EPSILON = 1e-12f;

    private static final int BETA = 3;

    private MicrosoftMapping() {}

    static List<Value> map(NodeContext n) {
        return switch (n.op()) {
            case "SkipLayerNormalization" -> skipNorm(n, true);
            case "SkipSimplifiedLayerNormalization" -> skipNorm(n, false);
            case "EmbedLayerNormalization" -> embedNorm(n);
            case "Gelu" -> List.of(n.unary(UnaryFn.GELU, n.in(0)));
            case "BiasGelu" -> List.of(n.unary(UnaryFn.GELU, biased(n)));
            case "FastGelu" -> List.of(n.unary(UnaryFn.GELU_TANH, n.has(1) ? biased(n) : n.in(0)));
            case "QuickGelu" -> List.of(quickGelu(n));
            case "MatMulNBits" -> List.of(NBitsMapping.map(n));
            default -> throw OnnxOps.unlisted(n);
        };
    }

    private static Value biased(NodeContext n) {
        return ShapeChanges.fitted(
                n, n.add(n.in(0), n.in(1)), n.in(0), "bias " + n.in(1).type());
    }

    /** x · sigmoid(alpha · x): half of x where alpha is 0. */
    private static Value quickGelu(NodeContext n) {
        Value x = n.in(0);
        double alpha = n.attrFloat("alpha", 1.702f);
        return alpha == 0 ? n.mul(x, n.scalar(x.dtype(), 0.5)) : n.add(new Unary(UnaryFn.SILU, alpha, 0), x);
    }

    /** [input, skip, gamma, beta? (of the centred one), bias?] → [output, mean, inv_std_var, input_skip_bias_sum]. */
    private static List<Value> skipNorm(NodeContext n, boolean centred) {
        Value x = n.in(0);
        if (x.shape().isRanked() && x.shape().rank() == 0) {
            throw n.error(
                    "the input, " + x.type() + ", must be of rank 1 or more: the rows of its last dim are normalised");
        }
        int bias = centred ? BETA + 1 : BETA;
        // the bias first: a product before it takes in a bias and then a residual
        Value biased = n.has(bias) ? n.add(x, n.in(bias)) : x;
        Value sum = ShapeChanges.fitted(
                n, n.add(biased, n.in(1)), x, "skip " + n.in(1).type() + " and a bias");
        int axis = n.rank(sum) - 1;
        double epsilon = n.attrFloat("epsilon", EPSILON);
        Value y = centred
                ? layerNorm(n, sum, epsilon, n.in(2), n.has(BETA) ? List.of(n.in(BETA)) : List.of())
                : n.add(new RmsNorm(axis, epsilon, true), sum, n.in(2));
        if (n.results() < 2) {
            return List.of(y);
        }
        Value wide = n.cast(sum, DType.F32);
        Value mean = NormalisationMapping.mean(n, wide, axis);
        Value deviation = centred ? NormalisationMapping.centred(n, wide, List.of(axis)) : wide;
        return List.of(y, mean, NormalisationMapping.reciprocalRoot(n, deviation, axis, epsilon), sum);
    }

    private static Value layerNorm(NodeContext n, Value x, double epsilon, Value gamma, List<Value> beta) {
        List<Value> operands = new ArrayList<>(List.of(x, gamma));
        operands.addAll(beta);
        return n.addAll(new LayerNorm(n.rank(x) - 1, epsilon, true, !beta.isEmpty()), operands)
                .getFirst();
    }

    /**
     * [input_ids, segment_ids?, words, positions, segments?, gamma, beta, mask?, position_ids?] → [output, mask_index,
     * embedding_sum]: the number of ones in each row of the mask, 0 without a mask.
     */
    private static List<Value> embedNorm(NodeContext n) {
        Value ids = n.in(0);
        if (ids.shape().isRanked() && ids.shape().rank() != 2) {
            throw n.error("input_ids must be of rank 2, [batch, tokens], and are " + ids.type());
        }
        Gather rows = new Gather(0);
        Value places = n.has(8) ? n.in(8) : MovementMapping.index(n, ids, 1);
        Value sum = n.add(n.add(rows, n.in(2), ids), n.add(rows, n.in(3), places));
        if (n.has(1) != n.has(4)) {
            throw n.error("segment_ids and segment_embedding are given together or not at all");
        }
        if (n.has(1)) {
            sum = n.add(sum, n.add(rows, n.in(4), n.in(1)));
        }
        Value y = layerNorm(n, sum, n.attrFloat("epsilon", EPSILON), n.in(5), List.of(n.in(6)));
        return n.results() < 2 ? List.of(y) : List.of(y, ones(n, ids), sum);
    }

    private static Value ones(NodeContext n, Value ids) {
        if (!n.has(7)) {
            ConstantData.Splat zero = new ConstantData.Splat(TensorType.of(DType.I32), 0);
            return MovementMapping.fill(n, zero, ShapeChanges.sizes(n, ids, 0, 1));
        }
        Value mask = n.in(7);
        Value kept = n.cast(n.compare(CompareFn.EQ, mask, n.scalar(mask.dtype(), 1)), DType.I32);
        return n.reduce(ReduceFn.SUM, kept, false, 1);
    }
}
