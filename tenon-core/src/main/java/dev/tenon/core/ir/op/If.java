package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.Set;

/** Either branch, by a value. [bool condition, then the inputs of both branches, in the same order]. Both give as many results. ONNX If-21. */
public record If(Graph thenBranch, Graph elseBranch) implements Deferred {
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

    @Override
    public Set<Integer> neededValues() {
        throw Unwritten.rule(this);
    }

    @Override
    public List<Value> resolve(Ops g, List<Value> inputs, Known known) {
        throw Unwritten.rule(this);
    }
}
