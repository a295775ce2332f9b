package dev.tenon.core.ir.op.attention;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Attention of sequences of their own lengths, whose tokens lie one after the other, without padding; keys and values
 * may lie in the pages of a cache.
 *
 * <p>[q [T,Hq,D], k [S,Hkv,D], v [S,Hkv,Dv], query offsets i32 [B+1], key offsets i32 [B+1], slopes? f32 [Hq]] → [y
 * [T,Hq,Dv]], q, k, v and y of one float type. Sequence b has the tokens from query offset b to the next, and the keys
 * likewise. Paged: k [P,N,Hkv,D] and v [P,N,Hkv,Dv] are P pages of N tokens, the key offsets are lengths i32 [B], and
 * pages i32 [B,M] follow before the slopes: key j of sequence b is token j mod N of page {@code pages[b, j / N]}.
 *
 * <p>A sequence's queries are the last of its keys: query i of L is at i + K - L among K keys. Scale, causality, window
 * and soft cap are those of {@link Attention}; a slope adds slope (j - position) to the capped score of key j (ALiBi:
 * Press et al., <a href="https://arxiv.org/abs/2108.12409">Train Short, Test Long</a>, 2022). A query that sees no key
 * gives 0, and so does a token of no sequence. Offsets that descend or leave their operand, lengths beyond the pages,
 * pages that there are not and sequences of more than {@code longest} queries are a {@link DataException}. vLLM's paged
 * attention and FlashAttention's varlen forms.
 *
 * @param window how many keys a query sees at most, itself included; 0 for all
 * @param scale of the products; NaN for 1/sqrt(D)
 * @param softCap 0 for none
 * @param alibi whether there are slopes
 * @param paged whether keys and values lie in pages
 * @param longest the most queries of a sequence; 0 for as many as there are tokens
 */
public record RaggedAttention(
        boolean causal, long window, double scale, double softCap, boolean alibi, boolean paged, long longest)
        implements InUnits {
    private static final String NAME = "ragged_attention";
    private static final int QUERY_OFFSETS = 3;
    private static final int KEY_OFFSETS = 4;
    private static final int PAGES = 5;

    public RaggedAttention {
        long span = window;
        long most = longest;
        double cap = softCap;
        Expect.shape(span >= 0, NAME, () -> "window needs to be 0 (none) or more: " + span);
        Expect.shape(most >= 0, NAME, () -> "longest needs to be 0 (not known) or more: " + most);
        Expect.shape(cap >= 0, NAME, () -> "soft cap needs to be 0 (none) or more: " + cap);
    }

    /** The factor of the scores, for heads of that size. */
    public double scaleFor(long headSize) {
        return Double.isNaN(scale) ? 1 / Math.sqrt((double) headSize) : scale;
    }

    /** The input that holds the slopes, where there are any. */
    public int slopes() {
        return paged ? PAGES + 1 : PAGES;
    }

    @Override
    public Arity arity() {
        return Arity.exactly(slopes() + (alibi ? 1 : 0));
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType dtype = Expect.floating(NAME, "q", inputs.get(0));
        Expect.same(NAME, "k", inputs.get(1), dtype);
        Expect.same(NAME, "v", inputs.get(2), dtype);
        for (int i = QUERY_OFFSETS; i < slopes(); i++) {
            Expect.same(NAME, "input " + i, inputs.get(i), DType.I32);
        }
        if (alibi) {
            Expect.same(NAME, "slopes", inputs.getLast(), DType.F32);
        }
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape q = inputs.get(0);
        Shape k = inputs.get(1);
        Shape v = inputs.get(2);
        int rank = paged ? 4 : 3;
        Rules.rank(NAME, "q", q, 3);
        Rules.rank(NAME, "k", k, rank);
        Rules.rank(NAME, "v", v, rank);
        Expect.same(NAME, "v without its last dim", v.range(0, rank - 1), k.range(0, rank - 1));
        Dim size = Expect.dim(NAME, "k", k, rank - 1, q.dim(2));
        Dim heads = q.dim(1);
        Dim groups = k.dim(rank - 2);
        Expect.shape(!size.is(0), NAME, () -> "heads are empty: q " + q);
        Expect.shape(!paged || !k.dim(1).is(0), NAME, () -> "pages are empty: k " + k);
        boolean multiple = !heads.isFixed()
                || !groups.isFixed()
                || (groups.size() == 0 ? heads.size() == 0 : heads.size() % groups.size() == 0);
        Expect.shape(multiple, NAME, () -> "query heads are not a multiple of key heads: q " + q + ", k " + k);
        checkSequences(inputs);
        if (alibi) {
            Expect.same(NAME, "slopes", inputs.getLast(), Shape.of(heads));
        }
        return List.of(Shape.of(q.dim(0), heads, v.dim(rank - 1)));
    }

    private void checkSequences(List<Shape> inputs) {
        Shape offsets = inputs.get(QUERY_OFFSETS);
        Shape others = inputs.get(KEY_OFFSETS);
        Rules.rank(NAME, "query offsets", offsets, 1);
        Rules.rank(NAME, paged ? "lengths" : "key offsets", others, 1);
        Expect.shape(!offsets.dim(0).is(0), NAME, () -> "query offsets are empty; expected one more than sequences");
        if (paged) {
            Shape pages = inputs.get(PAGES);
            Rules.rank(NAME, "pages", pages, 2);
            Dim count = Expect.dim(NAME, "pages", pages, 0, others.dim(0));
            Expect.shape(
                    !count.isFixed()
                            || !offsets.dim(0).isFixed()
                            || offsets.dim(0).size() - 1 == count.size(),
                    NAME,
                    () -> "query offsets " + offsets + " are not one more than lengths " + others);
        } else {
            Expect.same(NAME, "key offsets", others, offsets);
        }
    }

    @Override
    public long units(List<TensorType> inputs) {
        return SizeMath.product(
                NAME,
                inputs.getFirst().shape().size(0),
                inputs.getFirst().shape().size(1));
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        Shape k = inputs.get(1).shape();
        long keys = paged ? inputs.get(PAGES).shape().size(1) : k.size(0);
        return SizeMath.estimate(keys, 4, inputs.getFirst().shape().size(2));
    }

    @Override
    public void compute(Operands at, long from, long to) {
        Rows rows = new Rows(at);
        for (long row = from; row < to; row++) {
            rows.compute(row);
        }
    }

    /** One application: sizes, and where sequences lie. Used by one thread. */
    private final class Rows {
        private final Operands at;
        private final long tokens;
        private final long heads;
        private final long groups;
        private final int size;
        private final int sizeV;
        private final long sequences;
        private final long page;

        Rows(Operands at) {
            this.at = at;
            Shape q = at.input(0).shape();
            Shape v = at.input(2).shape();
            tokens = q.size(0);
            heads = q.size(1);
            groups = v.size(v.rank() - 2);
            size = SizeMath.toInt(NAME, q.size(2));
            sizeV = SizeMath.toInt(NAME, v.size(v.rank() - 1));
            sequences = at.input(QUERY_OFFSETS).shape().size(0) - 1;
            page = paged ? v.size(1) : 0;
            for (long b = 0; b < sequences; b++) {
                check(b);
            }
        }

        private long keys(long b) {
            return at.getLong(KEY_OFFSETS, paged ? b : b + 1) - (paged ? 0 : at.getLong(KEY_OFFSETS, b));
        }

        private void check(long b) {
            long start = at.getLong(QUERY_OFFSETS, b);
            long end = at.getLong(QUERY_OFFSETS, b + 1);
            long most = longest == 0 ? tokens : longest;
            boolean valid = start >= 0 && start <= end && end <= tokens && end - start <= most && keys(b) >= 0;
            if (paged) {
                long columns = at.input(PAGES).shape().size(1);
                valid = valid && Math.ceilDiv(keys(b), page) <= columns;
                for (long i = 0; valid && i < Math.ceilDiv(keys(b), page); i++) {
                    long one = at.getLong(PAGES, b * columns + i);
                    valid = one >= 0 && one < at.input(1).shape().size(0);
                }
            } else {
                long first = at.getLong(KEY_OFFSETS, b);
                valid = valid
                        && first >= 0
                        && first + keys(b) <= at.input(1).shape().size(0);
            }
            if (!valid) {
                throw new DataException(fault(b));
            }
        }

        void compute(long row) {
            long token = row / heads;
            long sequence = 0;
            while (sequence < sequences
                    && !(token >= at.getLong(QUERY_OFFSETS, sequence)
                            && token < at.getLong(QUERY_OFFSETS, sequence + 1))) {
                sequence++;
            }
            if (sequence < sequences) {
                attend(row, sequence, token);
            } else {
                for (int i = 0; i < sizeV; i++) {
                    at.set(0, row * sizeV + i, 0);
                }
            }
        }

        /** The row of a key's head among those of k, and of v. */
        private long place(long b, long key, long head) {
            long group = head / (heads / groups);
            if (!paged) {
                return (at.getLong(KEY_OFFSETS, b) + key) * groups + group;
            }
            long columns = at.input(PAGES).shape().size(1);
            return (at.getLong(PAGES, b * columns + key / page) * page + key % page) * groups + group;
        }

        private void attend(long row, long b, long token) {
            long head = row % heads;
            int keys = SizeMath.toInt(NAME, keys(b));
            long queries = at.getLong(QUERY_OFFSETS, b + 1) - at.getLong(QUERY_OFFSETS, b);
            long position = token - at.getLong(QUERY_OFFSETS, b) + keys - queries;
            double[] scores = new double[keys];
            double largest = Double.NEGATIVE_INFINITY;
            for (int j = 0; j < keys; j++) {
                boolean sees = (!causal || j <= position) && (window == 0 || j > position - window);
                scores[j] = sees ? score(row, b, j, head, position) : Double.NEGATIVE_INFINITY;
                largest = Math.max(largest, scores[j]);
            }
            double[] sums = new double[sizeV];
            double total = 0;
            for (int j = 0; largest != Double.NEGATIVE_INFINITY && j < keys; j++) {
                if (scores[j] != Double.NEGATIVE_INFINITY) {
                    double weight = Math.exp(scores[j] - largest);
                    total += weight;
                    long from = place(b, j, head) * sizeV;
                    for (int i = 0; i < sizeV; i++) {
                        sums[i] += weight * at.get(2, from + i);
                    }
                }
            }
            for (int i = 0; i < sizeV; i++) {
                at.set(0, row * sizeV + i, largest == Double.NEGATIVE_INFINITY ? 0 : sums[i] / total);
            }
        }

        private double score(long row, long b, long key, long head, long position) {
            long from = place(b, key, head) * size;
            double sum = 0;
            for (int i = 0; i < size; i++) {
                sum += at.get(0, row * size + i) * at.get(1, from + i);
            }
            double score = scaleFor(size) * sum;
            double capped = softCap > 0 ? softCap * Math.tanh(score / softCap) : score;
            return alibi ? capped + at.get(slopes(), head) * (key - position) : capped;
        }
    }

    /** What is wrong where a sequence lies elsewhere than its operands. */
    public String fault(long sequence) {
        return NAME + ": sequence " + sequence
                + (paged ? " has pages that there are not, more keys than pages," : " has")
                + " offsets that descend or leave their operand, or more queries than "
                + (longest == 0 ? "there are tokens" : longest);
    }
}
