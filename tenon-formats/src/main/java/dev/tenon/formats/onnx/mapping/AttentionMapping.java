package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.PadMode;
import dev.tenon.core.ir.op.normalisation.Softmax;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Attention and rotary embedding, opset 23 on. */
final class AttentionMapping {
    private static final int MASK = 3;
    private static final int PAST_KEY = 4;
    private static final int PAST_VALUE = 5;
    private static final int LENGTHS = 6;

    private AttentionMapping() {}

    static List<Value> map(NodeContext n) {
        return switch (n.op()) {
            case "Attention" -> attention(n);
            case "LinearAttention" -> LinearAttentionMapping.map(n);
            case "RotaryEmbedding" -> List.of(rotary(n));
            default -> throw OnnxOps.unlisted(n);
        };
    }

    private static List<Value> attention(NodeContext n) {
        boolean flat = n.rank(n.in(0)) == 3;
        Value q = flat ? heads(n, n.in(0), n.attrInt("q_num_heads")) : n.in(0);
        Value newKey = flat ? heads(n, n.in(1), n.attrInt("kv_num_heads")) : n.in(1);
        Value newValue = flat ? heads(n, n.in(2), n.attrInt("kv_num_heads")) : n.in(2);
        Value k = n.has(PAST_KEY) ? n.add(new Concat(2), n.in(PAST_KEY), newKey) : newKey;
        Value v = n.has(PAST_VALUE) ? n.add(new Concat(2), n.in(PAST_VALUE), newValue) : newValue;

        boolean causal = n.attrFlag("is_causal", false);
        // ours counts from the last key back, the operator from the first key on: the same where there are as many new
        // keys as queries
        Dim queries = q.shape().dim(2);
        boolean square = queries.equals(newKey.shape().dim(2)) && !queries.equals(Dim.unknown()) && !n.has(LENGTHS);
        Value mask = mask(n, q, newKey, k, causal && !square);

        Value attended;
        Value scores = null;
        if (n.results() > 3) {
            Spelled spelled =
                    Spelled.of(n, q, k, v, causal && square ? both(n, mask, causalMask(n, q, newKey, k)) : mask);
            attended = spelled.result();
            scores = spelled.scores();
        } else {
            Attention op = new Attention(
                    causal && square, 0, kind(mask), n.attrFloat("scale", Double.NaN), n.attrFloat("softcap", 0));
            attended = mask == null ? n.add(op, q, k, v) : n.add(op, q, k, v, mask);
        }
        Value y = flat ? joined(n, attended) : attended;
        return scores == null ? List.of(y, k, v) : List.of(y, k, v, scores);
    }

    private static AttentionMask kind(@Nullable Value mask) {
        return mask == null
                ? AttentionMask.NONE
                : mask.dtype() == DType.BOOL ? AttentionMask.BOOLEAN : AttentionMask.ADDITIVE;
    }

    /** [B,L,H*D] as [B,H,L,D]. */
    static Value heads(NodeContext n, Value x, long heads) {
        return n.transpose(ShapeChanges.reshape(n, x, List.of(0L, 0L, heads, -1L), false), 0, 2, 1, 3);
    }

    /** [B,H,L,D] as [B,L,H*D]. */
    static Value joined(NodeContext n, Value x) {
        return ShapeChanges.reshape(n, n.transpose(x, 0, 2, 1, 3), List.of(0L, 0L, -1L), false);
    }

    /** Everything that hides a key, in one mask. */
    private static @Nullable Value mask(NodeContext n, Value q, Value newKey, Value k, boolean causal) {
        Value mask = n.has(MASK) ? padded(n, n.in(MASK), k.shape().dim(2)) : null;
        if (mask != null && mask.dtype() != DType.BOOL) {
            mask = n.cast(mask, q.dtype());
        }
        if (causal) {
            mask = both(n, mask, causalMask(n, q, newKey, k));
        }
        if (n.has(LENGTHS)) {
            Value lengths = ShapeChanges.unsqueeze(n, n.cast(n.in(LENGTHS), DType.I64), List.of(1L, 2L, 3L));
            mask = both(n, mask, n.compare(CompareFn.LT, MovementMapping.index(n, k, 2), lengths));
        }
        return mask;
    }

    /** A mask may be shorter than the keys: those it does not name are hidden. */
    private static Value padded(NodeContext n, Value mask, Dim keys) {
        int rank = n.rank(mask);
        Dim has = mask.shape().dim(rank - 1);
        if (!has.isFixed() || !keys.isFixed() || has.size() >= keys.size()) {
            return mask;
        }
        List<Long> before = Collections.nCopies(rank, 0L);
        List<Long> after = new ArrayList<>(before);
        after.set(rank - 1, keys.size() - has.size());
        Value hidden =
                mask.dtype() == DType.BOOL ? n.scalar(DType.BOOL, 0) : n.scalar(mask.dtype(), Double.NEGATIVE_INFINITY);
        return n.add(new Pad(PadMode.CONSTANT, before, after), mask, hidden);
    }

    private static Value both(NodeContext n, @Nullable Value mask, Value visible) {
        if (mask == null) {
            return visible;
        }
        return mask.dtype() == DType.BOOL
                ? n.binary(BinaryFn.AND, mask, visible)
                : n.where(visible, mask, n.scalar(mask.dtype(), Double.NEGATIVE_INFINITY));
    }

    /** Query i sees key j where j <= i + the number of keys before this block of queries. */
    private static Value causalMask(NodeContext n, Value q, Value newKey, Value k) {
        Value row = ShapeChanges.unsqueeze(n, MovementMapping.index(n, q, 2), List.of(1L));
        Value before;
        if (n.has(LENGTHS) && !n.has(PAST_KEY)) {
            Value lengths = ShapeChanges.unsqueeze(n, n.cast(n.in(LENGTHS), DType.I64), List.of(1L, 2L, 3L));
            before = n.sub(lengths, ShapeChanges.sizes(n, q, 2, 3));
        } else {
            before = n.sub(ShapeChanges.sizes(n, k, 2, 3), ShapeChanges.sizes(n, newKey, 2, 3));
        }
        return n.compare(CompareFn.LE, MovementMapping.index(n, k, 2), n.add(row, before));
    }

    /** Attention step by step, for models that want to see the scores. */
    private record Spelled(Value result, Value scores) {
        static Spelled of(NodeContext n, Value q, Value k, Value v, @Nullable Value mask) {
            Dim size = q.shape().dim(3);
            if (!n.hasAttr("scale") && !size.isFixed()) {
                throw n.error("the head size must be known here, or scale given");
            }
            double scale = n.hasAttr("scale") ? n.attrFloat("scale", 1) : 1 / Math.sqrt((double) size.size());
            double cap = n.attrFloat("softcap", 0);
            Value keys = repeated(n, k, q);
            Value raw =
                    n.mul(n.add(new MatMul(false, true, Epilogue.NONE), q, keys), ShapeChanges.scalarLike(n, q, scale));
            Value capped = raw;
            if (cap > 0) {
                Value limit = ShapeChanges.scalarLike(n, q, cap);
                capped = n.mul(n.unary(UnaryFn.TANH, n.div(raw, limit)), limit);
            }
            Value hidden = ShapeChanges.scalarLike(n, q, Double.NEGATIVE_INFINITY);
            Value masked = mask == null
                    ? capped
                    : mask.dtype() == DType.BOOL ? n.where(mask, capped, hidden) : n.add(capped, mask);
            // a query that sees no key has no weights, rather than the formula's NaN
            Value blind = n.compare(CompareFn.EQ, n.reduce(ReduceFn.MAX, masked, true, 3), hidden);
            Value weights = n.where(blind, ShapeChanges.scalarLike(n, q, 0), n.add(new Softmax(3), masked));
            Value scores = switch ((int) n.attrInt("qk_matmul_output_mode", 0)) {
                case 0 -> raw;
                case 1 -> capped;
                case 2 -> masked;
                case 3 -> weights;
                default -> throw n.error("qk_matmul_output_mode must be 0 to 3");
            };
            return new Spelled(n.matmul(weights, repeated(n, v, q)), scores);
        }

        /** Each key head as often as there are query heads for it, one after the other. */
        private static Value repeated(NodeContext n, Value x, Value q) {
            Dim wanted = q.shape().dim(1);
            Dim has = x.shape().dim(1);
            if (wanted.equals(has)) {
                return x;
            }
            if (!wanted.isFixed() || !has.isFixed() || has.size() == 0 || wanted.size() % has.size() != 0) {
                throw n.error("query heads " + wanted + " must be a multiple of key heads " + has);
            }
            long each = wanted.size() / has.size();
            List<Long> heads = new ArrayList<>();
            for (long head = 0; head < wanted.size(); head++) {
                heads.add(head / each);
            }
            return n.add(new Gather(1), x, n.longs(heads));
        }
    }

    /** Turns pairs of elements by the angles of their positions, looked up in the caches or given a position. */
    private static Value rotary(NodeContext n) {
        Value x = n.in(0);
        boolean flat = n.rank(x) == 3;
        Value split = flat ? heads(n, x, n.attrInt("num_heads")) : x;
        Value cos = angles(n, n.in(1));
        Value sin = angles(n, n.in(2));
        Rope op = new Rope(n.attrFlag("interleaved", false), n.attrInt("rotary_embedding_dim", 0));
        Value turned = n.add(op, split, cos, sin);
        return flat ? joined(n, turned) : turned;
    }

    /** [B,1,L,r/2]. */
    private static Value angles(NodeContext n, Value cache) {
        Value chosen = n.has(3) ? n.add(new Gather(0), cache, n.in(3)) : cache;
        return ShapeChanges.unsqueeze(n, chosen, List.of(1L));
    }
}
