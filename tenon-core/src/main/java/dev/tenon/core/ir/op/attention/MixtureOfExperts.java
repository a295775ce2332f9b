package dev.tenon.core.ir.op.attention;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.op.contraction.GroupedMatMul;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.ir.op.reduction.Sort;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.stream.LongStream;

/**
 * A feed-forward layer of E experts: each token goes through the k whose logits are largest, and their results are
 * summed with weights, softmax(logits) at those experts.
 *
 * <p>[x [T,H], logits [T,E], gate [E,H,F], up [E,H,F], down [E,F,H]] → [y [T,H]], all of one float type;
 * {@code expert(x) = (activation(x gate) * (x up)) down}. A short type rounds after each product. Equal logits take the
 * expert with the lower number.
 *
 * <p>Tokens are sorted by expert, and each weight is one grouped product, so experts without tokens cost nothing and no
 * number of an expert leaves the device. The k results of a token are added in the order of their logits, whatever the
 * other tokens are: the sum is deterministic.
 *
 * @param k experts for each token, 1 to E
 * @param normalised whether the weights of a token's experts are scaled to a sum of 1 (Jiang et al., <a
 *     href="https://arxiv.org/abs/2401.04088">Mixtral</a>, 2024)
 * @param activation of the gate: SiLU in most models
 */
public record MixtureOfExperts(long k, boolean normalised, Unary activation) implements Composite {
    private static final String NAME = "mixture_of_experts";
    private static final Binary MULTIPLY = new Binary(BinaryFn.MUL);

    public MixtureOfExperts {
        if (k < 1) {
            throw new ShapeException(NAME + ": k is " + k + "; expected 1 or more");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(5);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(NAME, inputs));
    }

    /** @throws ShapeException also for more experts a token than there are */
    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.get(0);
        Shape logits = inputs.get(1);
        Rules.rank(NAME, "x", x, 2);
        Rules.rank(NAME, "logits", logits, 2);
        Expect.dim(NAME, "logits", logits, 0, x.dim(0));
        List<String> names = List.of("gate", "up", "down");
        for (int i = 0; i < names.size(); i++) {
            Rules.rank(NAME, names.get(i), inputs.get(2 + i), 3);
            Expect.dim(NAME, names.get(i), inputs.get(2 + i), 0, logits.dim(1));
            Expect.dim(NAME, names.get(i), inputs.get(2 + i), i == 2 ? 2 : 1, x.dim(1));
        }
        Expect.dim(NAME, "up", inputs.get(3), 2, inputs.get(2).dim(2));
        Expect.dim(NAME, "down", inputs.get(4), 1, inputs.get(2).dim(2));
        if (logits.dim(1).isFixed() && k > logits.size(1)) {
            throw new ShapeException(
                    NAME + ": k is " + k + " of " + logits.size(1) + " experts; expected at most as many");
        }
        return List.of(x);
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value x = inputs.get(0);
        long tokens = x.shape().size(0);
        long rows = SizeMath.product(NAME, tokens, k);
        List<Value> chosen = g.addAll(new TopK(k, 1, true, true), List.of(g.add(new Softmax(1), inputs.get(1))));
        Value experts = g.add(Reshape.to(rows), chosen.get(1));
        // row i of what is sorted is choice order[i], of token order[i] / k
        Value order = g.addAll(new Sort(0, false), List.of(experts)).get(1);
        Value token = g.add(new Binary(BinaryFn.DIV), order, number(g, k));
        Value sorted = g.add(new Gather(0), x, token);
        Value counts = counts(g, experts, inputs.get(2).shape().size(0), rows);
        Value gate = g.add(activation, g.add(new GroupedMatMul(), sorted, inputs.get(2), counts));
        Value hidden = g.add(MULTIPLY, gate, g.add(new GroupedMatMul(), sorted, inputs.get(3), counts));
        Value results = g.add(new GroupedMatMul(), hidden, inputs.get(4), counts);
        Value back = g.add(new Gather(0), results, inverse(g, order, rows));
        Value each = g.add(Reshape.to(tokens, k, x.shape().size(1)), back);
        Value weights = g.add(Reshape.to(tokens, k, 1), weights(g, chosen.get(0)));
        return List.of(g.add(new Reduce(ReduceFn.SUM, List.of(1), false), g.add(MULTIPLY, each, weights)));
    }

    private Value weights(OpBuilder g, Value scores) {
        return normalised
                ? g.add(new Binary(BinaryFn.DIV), scores, g.add(new Reduce(ReduceFn.SUM, List.of(1), true), scores))
                : scores;
    }

    /** How many tokens each expert has. */
    private static Value counts(OpBuilder g, Value experts, long number, long rows) {
        return g.add(
                new ScatterElements(0, ScatterFn.ADD),
                numbers(g, LongStream.generate(() -> 0).limit(number)),
                experts,
                numbers(g, LongStream.generate(() -> 1).limit(rows)));
    }

    /** Where each choice went. */
    private static Value inverse(OpBuilder g, Value order, long rows) {
        return g.add(
                new ScatterElements(0, ScatterFn.REPLACE),
                numbers(g, LongStream.generate(() -> 0).limit(rows)),
                order,
                numbers(g, LongStream.range(0, rows)));
    }

    private static Value number(OpBuilder g, long value) {
        return g.constant(NdArray.of(TensorType.of(DType.I64), value).toConstant());
    }

    private static Value numbers(OpBuilder g, LongStream values) {
        return g.constant(NdArray.ofLongs(values.toArray()).toConstant());
    }
}
