package dev.tenon.core.ir.op.attention;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.indexing.ScatterNd;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Writes keys and values of new tokens to their places in a cache of pages; keys may be rotated on the way.
 *
 * <p>[key cache [P,N,H,D], value cache [P,N,H,Dv], k [T,H,D], v [T,H,Dv], places i32 or i64 [T], cos?, sin?] → [key
 * cache, value cache]. P pages hold N tokens each; place p is token p mod N of page p / N, and a negative one counts
 * from the end. A cache [B,M,H,D] of a sequence in one piece each is B pages of M tokens. Of equal places the last
 * token stays; a place out of range is a {@code DataException}. cos and sin, broadcast to [T,H,D/2], turn halves of k
 * as {@link Rope} does. {@link RaggedAttention} reads such caches.
 *
 * @param rotated whether keys are rotated by cos and sin
 * @param interleaved whether pairs of a rotation are neighbours
 */
public record KvAppend(boolean rotated, boolean interleaved) implements Composite {
    private static final String NAME = "kv_append";
    private static final int PLACES = 4;

    @Override
    public Arity arity() {
        return Arity.exactly(rotated ? PLACES + 3 : PLACES + 1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType keys = Expect.floating(NAME, "key cache", inputs.get(0));
        DType values = Expect.floating(NAME, "value cache", inputs.get(1));
        Expect.same(NAME, "k", inputs.get(2), keys);
        Expect.same(NAME, "v", inputs.get(3), values);
        DType places = inputs.get(PLACES);
        Expect.dtype(
                places == DType.I32 || places == DType.I64,
                NAME,
                () -> "places are " + places + "; expected i32 or i64");
        return List.of(keys, values);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.rank(NAME, "places", inputs.get(PLACES), 1);
        Dim tokens = inputs.get(PLACES).dim(0);
        for (int i = 0; i < 2; i++) {
            Shape cache = inputs.get(i);
            Shape added = inputs.get(2 + i);
            Rules.rank(NAME, i == 0 ? "key cache" : "value cache", cache, 4);
            Expect.same(NAME, i == 0 ? "k" : "v", added, Shape.of(tokens, cache.dim(2), cache.dim(3)));
        }
        Expect.same(
                NAME,
                "pages of values",
                inputs.get(1).range(0, 3),
                inputs.get(0).range(0, 3));
        return List.of(inputs.get(0), inputs.get(1));
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value given = inputs.get(PLACES);
        Value places = g.add(Reshape.to(given.shape().size(0), 1), Cast.to(g, given, DType.I64));
        Value k = rotated
                ? g.add(new Rope(interleaved, 0), inputs.get(2), inputs.get(PLACES + 1), inputs.get(PLACES + 2))
                : inputs.get(2);
        return List.of(written(g, inputs.get(0), k, places), written(g, inputs.get(1), inputs.get(3), places));
    }

    private static Value written(OpBuilder g, Value cache, Value added, Value places) {
        Shape shape = cache.shape();
        Value tokens = g.add(Reshape.to(shape.elements(0, 2), shape.size(2), shape.size(3)), cache);
        Value written = g.add(new ScatterNd(ScatterFn.REPLACE), tokens, places, added);
        return g.add(Reshape.to(shape.sizes()), written);
    }
}
