package dev.tenon.core.ir.op.convolution;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;

/**
 * A convolution whose operands have their channels innermost: [x [B,...,C], w [O,...,C/groups], bias? [O], residual?
 * like the result] → [y [B,...,O]]. All else is as the {@link Conv} says.
 */
public record ChannelsLastConv(Conv conv) implements Claimable {
    @Override
    public Arity arity() {
        return conv.arity();
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return conv.dtypes(inputs);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        int rank = rank();
        Rules.rank(mnemonic(), "x", inputs.get(0), rank);
        Rules.rank(mnemonic(), "w", inputs.get(1), rank);
        List<Shape> turned = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            turned.add(isVector(i) ? inputs.get(i) : permuted(inputs.get(i), first(rank)));
        }
        return List.of(permuted(conv.shapes(turned).getFirst(), last(rank)));
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        List<Value> turned = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            turned.add(isVector(i) ? inputs.get(i) : g.add(new Transpose(first(rank())), inputs.get(i)));
        }
        return List.of(g.add(new Transpose(last(rank())), g.addAll(conv, turned).getFirst()));
    }

    private int rank() {
        return conv.strides().size() + 2;
    }

    private boolean isVector(int input) {
        Epilogue epilogue = conv.epilogue();
        return epilogue.bias() && input == 2;
    }

    /** The permutation that brings the second dim to the end. */
    public static List<Integer> last(int rank) {
        Integer[] dims = new Integer[rank];
        for (int i = 0; i < rank; i++) {
            dims[i] = i == 0 ? 0 : i == rank - 1 ? 1 : i + 1;
        }
        return List.of(dims);
    }

    /** The permutation that brings the last dim to the second place. */
    public static List<Integer> first(int rank) {
        Integer[] dims = new Integer[rank];
        for (int i = 0; i < rank; i++) {
            dims[i] = i == 0 ? 0 : i == 1 ? rank - 1 : i - 1;
        }
        return List.of(dims);
    }

    private static Shape permuted(Shape shape, List<Integer> permutation) {
        Dim[] dims = new Dim[permutation.size()];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = shape.dim(permutation.get(i));
        }
        return Shape.of(dims);
    }
}
