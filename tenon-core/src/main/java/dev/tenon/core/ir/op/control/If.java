package dev.tenon.core.ir.op.control;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Inline;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Either branch, by a value: the branch taken is put in the node's place, the other one never runs.
 *
 * <p>[bool condition of one element, then the inputs of both branches, in the same order] → the branch's outputs, in
 * order. Both branches take as many inputs and give as many results, of the same types; of the shapes only what both
 * agree on is known before. ONNX If-21.
 */
public record If(Graph thenBranch, Graph elseBranch) implements Deferred {
    public If {
        for (Graph branch : List.of(thenBranch, elseBranch)) {
            if (!branch.parameters().isEmpty()) {
                throw new ShapeException("if: branch \"" + branch.name() + "\" has parameters; expected inputs only");
            }
        }
        if (thenBranch.inputs().size() != elseBranch.inputs().size()
                || thenBranch.outputs().size() != elseBranch.outputs().size()) {
            throw new ShapeException("if: branches take " + thenBranch.inputs().size() + " and "
                    + elseBranch.inputs().size() + " inputs, give "
                    + thenBranch.outputs().size() + " and "
                    + elseBranch.outputs().size()
                    + " results; expected the same numbers");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1 + thenBranch.inputs().size());
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.require(mnemonic(), "condition", inputs.getFirst(), type -> type == DType.BOOL, "bool");
        List<DType> types = new ArrayList<>();
        List<Value> other = List.copyOf(elseBranch.outputs().values());
        for (Value result : thenBranch.outputs().values()) {
            types.add(Rules.same(
                    mnemonic() + " results",
                    List.of(result.dtype(), other.get(types.size()).dtype())));
        }
        return types;
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.single(mnemonic(), "condition", inputs.getFirst());
        return merged();
    }

    /**
     * The results depend on what the branches say, not on the inputs' shapes: they may have a rank where an input has
     * none.
     */
    @Override
    public List<TensorType> infer(List<TensorType> inputs) {
        if (inputs.size() != arity().min()
                || inputs.stream().allMatch(type -> type.shape().isRanked())) {
            return Deferred.super.infer(inputs);
        }
        List<DType> dtypes = dtypes(inputs.stream().map(TensorType::dtype).toList());
        List<Shape> shapes = merged();
        return IntStream.range(0, dtypes.size())
                .mapToObj(i -> new TensorType(dtypes.get(i), shapes.get(i)))
                .toList();
    }

    private List<Shape> merged() {
        List<Shape> shapes = new ArrayList<>();
        List<Value> other = List.copyOf(elseBranch.outputs().values());
        for (Value result : thenBranch.outputs().values()) {
            shapes.add(result.shape().common(other.get(shapes.size()).shape()));
        }
        return shapes;
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(0);
    }

    @Override
    public boolean needsShapes() {
        return false;
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        Graph branch = known.single(0) != 0 ? thenBranch : elseBranch;
        return Inline.graph(g, branch, inputs.subList(1, inputs.size()));
    }
}
