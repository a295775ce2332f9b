package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** One function of one number, element by element; the parameters are those the function's constant documents, 0 where it has none. [x] -> same type ({@code IS_NAN}, {@code IS_INF}: bool; {@code NOT}: bool). */
public record Unary(UnaryFn fn, double alpha, double beta) implements Primitive {
    /** A function without parameters. */
    public static Unary of(UnaryFn fn) {
        return new Unary(fn, 0, 0);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        throw Unwritten.rule(this);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        throw Unwritten.rule(this);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        throw Unwritten.rule(this);
    }
}
