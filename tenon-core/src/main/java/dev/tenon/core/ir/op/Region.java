package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** Several elementwise operations in one pass: inputs broadcast against each other, each step reads inputs and earlier steps, and the steps named by {@code results} are the outputs, all of the broadcast shape. Made by fusion. */
public record Region(List<Region.Step> steps, List<Integer> results) implements Primitive {
    @Override
    public Arity arity() {
        return Arity.atLeast(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        throw Unwritten.rule(this);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        throw Unwritten.rule(this);
    }

    /** One elementwise operation; arguments below the number of inputs are inputs, the others are earlier steps. */
    public record Step(Primitive op, List<Integer> arguments) {}

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        throw Unwritten.rule(this);
    }
}
