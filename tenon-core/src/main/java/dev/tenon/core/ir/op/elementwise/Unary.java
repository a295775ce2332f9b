package dev.tenon.core.ir.op.elementwise;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * One function of one number, element by element; the parameters are those the function's constant documents, 0 where
 * it has none.
 *
 * <p>[x] → [y], of x's shape. {@link UnaryFn#accepts} says which types a function takes; integers wrap. The result has
 * x's type; of {@code IS_NAN} and {@code IS_INF} it is bool. NaN in, NaN out. At an infinity every activation has its
 * limit: gelu(-inf), silu(-inf) and mish(-inf) are 0, softsign(inf) is 1. {@link UnaryAccuracy} says how near backends
 * come.
 */
public record Unary(UnaryFn fn, double alpha, double beta) implements Elementwise {
    public Unary {
        fn.check(alpha, beta);
    }

    /** A function without parameters. */
    public static Unary of(UnaryFn fn) {
        return new Unary(fn, 0, 0);
    }

    /** x sigmoid(x). */
    public static Unary silu() {
        return new Unary(UnaryFn.SILU, 1, 0);
    }

    /** Returns the function of a float. */
    public double apply(double x) {
        return fn.apply(x, alpha, beta);
    }

    /**
     * Returns the function of an integer or a boolean, exact modulo 2^64.
     *
     * @throws dev.tenon.core.error.UnsupportedException for a function of floats alone
     */
    public long apply(DType dtype, long x) {
        return fn.apply(dtype, x, alpha, beta);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(fn.result(Rules.require(fn.word(), "input", inputs.getFirst(), fn.accepts())));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return inputs;
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        NdArray y = Rules.result(this, inputs);
        boolean floats = x.dtype().isFloat();
        for (int i = 0; i < y.size(); i++) {
            if (floats) {
                y.set(i, apply(x.get(i)));
            } else {
                y.set(i, apply(x.dtype(), x.getLong(i)));
            }
        }
        return List.of(y);
    }
}
