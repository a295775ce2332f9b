package dev.tenon.core.ir.op.attention;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.Arrays;
import java.util.List;

/**
 * softmax(scale * q k^T, capped, masked) v. [q [B,Hq,Lq,D], k [B,Hkv,Lk,D], v [B,Hkv,Lk,Dv], mask? broadcast to
 * [B,Hq,Lq,Lk], bool (true = may look) or additive]. Hq is a multiple of Hkv: query head h reads key head h / (Hq/Hkv).
 * Causal: query i sees keys j <= i + Lk - Lq; {@code window} > 0: and j > i + Lk - Lq - window. {@code scale} NaN means
 * 1/sqrt(D); {@code softCap} > 0: cap * tanh(s / cap). A row that sees no key is 0.
 *
 * <p>The result is [B,Hq,Lq,Dv]; q, k, v, an additive mask and the result have one float type. The window counts the
 * current token and bounds the past with or without {@code causal}. A key that a query may not see has no part in its
 * row, whatever the key's values; an additive mask is added to the capped score, and where all scores of a row are -inf
 * the row is 0 too. A NaN among the scores that a row sees makes it NaN.
 *
 * @param window how many keys a query sees at most, itself included; 0 for all
 */
public record Attention(boolean causal, long window, AttentionMask mask, double scale, double softCap)
        implements Primitive {
    private static final String NAME = "attention";

    public Attention {
        long span = window;
        double cap = softCap;
        Expect.shape(span >= 0, NAME, () -> "window needs to be 0 (none) or more: " + span);
        Expect.shape(cap >= 0, NAME, () -> "soft cap needs to be 0 (none) or more: " + cap);
    }

    /** The factor of the scores, for heads of that size. */
    public double scaleFor(long headSize) {
        return Double.isNaN(scale) ? 1 / Math.sqrt((double) headSize) : scale;
    }

    @Override
    public Arity arity() {
        return Arity.exactly(mask == AttentionMask.NONE ? 3 : 4);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType dtype = Expect.floating(NAME, "q", inputs.get(0));
        Expect.same(NAME, "k", inputs.get(1), dtype);
        Expect.same(NAME, "v", inputs.get(2), dtype);
        if (mask != AttentionMask.NONE) {
            Expect.same(NAME, "mask", inputs.get(3), mask == AttentionMask.BOOLEAN ? DType.BOOL : dtype);
        }
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape q = inputs.get(0);
        Shape k = inputs.get(1);
        Shape v = inputs.get(2);
        Rules.rank(NAME, "q", q, 4);
        Rules.rank(NAME, "k", k, 4);
        Rules.rank(NAME, "v", v, 4);
        Dim batch = Expect.dim(NAME, "v", v, 0, Expect.dim(NAME, "k", k, 0, q.dim(0)));
        Dim size = Expect.dim(NAME, "k", k, 3, q.dim(3));
        Expect.shape(!size.is(0), NAME, () -> "heads are empty: q " + q);
        Dim groups = Expect.dim(NAME, "v", v, 1, k.dim(1));
        Dim keys = Expect.dim(NAME, "v", v, 2, k.dim(2));
        Dim heads = q.dim(1);
        Expect.shape(
                !heads.isFixed() || !groups.isFixed() || isMultiple(heads.size(), groups.size()),
                NAME,
                () -> "query heads are not a multiple of key heads: q " + q + ", k " + k);
        if (mask != AttentionMask.NONE) {
            Rules.broadcastsTo(NAME, "mask", inputs.get(3), Shape.of(batch, heads, q.dim(2), keys));
        }
        return List.of(Shape.of(batch, heads, q.dim(2), v.dim(3)));
    }

    private static boolean isMultiple(long heads, long groups) {
        return groups == 0 ? heads == 0 : heads % groups == 0;
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray result = Rules.result(this, inputs);
        double[] q = inputs.get(0).toDoubles();
        double[] k = inputs.get(1).toDoubles();
        double[] v = inputs.get(2).toDoubles();
        Shape shape = inputs.get(0).shape();
        Shape keyShape = inputs.get(1).shape();
        int heads = SizeMath.toInt(NAME, shape.size(1));
        int groups = SizeMath.toInt(NAME, keyShape.size(1));
        int queries = SizeMath.toInt(NAME, shape.size(2));
        int keys = SizeMath.toInt(NAME, keyShape.size(2));
        int size = SizeMath.toInt(NAME, shape.size(3));
        int sizeV = SizeMath.toInt(NAME, result.shape().size(3));
        double factor = scaleFor(size);
        int[] maskAt = mask == AttentionMask.NONE
                ? new int[0]
                : Indexing.broadcast(inputs.get(3).shape(), Shape.of(shape.size(0), heads, queries, keys));
        double[] scores = new double[keys];
        for (int row = 0; row < shape.elements(0, 3); row++) {
            int query = row % queries;
            int head = row / queries;
            int keyHead = head / heads * groups + head % heads / (heads / groups);
            for (int j = 0; j < keys; j++) {
                int at = row * keys + j;
                boolean seen = sees(query + keys - queries, j)
                        && (mask != AttentionMask.BOOLEAN || inputs.get(3).getLong(maskAt[at]) != 0);
                if (seen) {
                    double score = capped(factor * dot(q, row * size, k, (keyHead * keys + j) * size, size));
                    scores[j] = score
                            + (mask == AttentionMask.ADDITIVE ? inputs.get(3).get(maskAt[at]) : 0);
                } else {
                    scores[j] = Double.NEGATIVE_INFINITY;
                }
            }
            mix(scores, v, keyHead * keys * sizeV, sizeV, result, row * sizeV);
        }
        return List.of(result);
    }

    /**
     * Whether causality and the window let a query see a key; {@code position} is the query's among the keys, negative
     * before the first.
     */
    private boolean sees(int position, int key) {
        return (!causal || key <= position) && (window == 0 || key > position - window);
    }

    private double capped(double score) {
        return softCap > 0 ? softCap * Math.tanh(score / softCap) : score;
    }

    private static double dot(double[] a, int startA, double[] b, int startB, int size) {
        double sum = 0;
        for (int i = 0; i < size; i++) {
            sum += a[startA + i] * b[startB + i];
        }
        return sum;
    }

    /** The average of values by the softmax of scores; 0 where all scores are -inf. */
    private static void mix(double[] scores, double[] v, int start, int size, NdArray result, int to) {
        // Math.max keeps a NaN, which then makes every weight and so the row NaN
        double max = Arrays.stream(scores).reduce(Double.NEGATIVE_INFINITY, Math::max);
        if (max == Double.NEGATIVE_INFINITY) {
            return;
        }
        double[] weights =
                Arrays.stream(scores).map(score -> Math.exp(score - max)).toArray();
        double total = Arrays.stream(weights).sum();
        for (int i = 0; i < size; i++) {
            double sum = 0;
            for (int j = 0; j < weights.length; j++) {
                // not 0 times a value that the row does not see, which may be NaN
                sum += scores[j] == Double.NEGATIVE_INFINITY ? 0 : weights[j] * v[start + j * size + i];
            }
            result.set(to + i, sum / total);
        }
    }
}
