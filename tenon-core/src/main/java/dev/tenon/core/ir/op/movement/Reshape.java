package dev.tenon.core.ir.op.movement;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The same elements, in the same order, under another shape. Costs nothing: the result shares its input's memory.
 *
 * <p>[x] → [y], of x's type and those sizes; one of them may be -1 and is inferred, unless another is 0.
 */
public record Reshape(List<Long> sizes) implements Primitive {
    public Reshape {
        sizes = List.copyOf(sizes);
        int inferred = 0;
        for (int i = 0; i < sizes.size(); i++) {
            if (sizes.get(i) < -1) {
                throw new ShapeException("reshape: sizes " + sizes + " have a negative one; expected -1 or a size");
            }
            inferred += sizes.get(i) == -1 ? 1 : 0;
        }
        if (inferred > 1 || (inferred == 1 && sizes.contains(0L))) {
            throw new ShapeException(
                    "reshape: sizes " + sizes + " do not settle what -1 is; expected it once, and no 0 beside it");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return inputs;
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        int hole = sizes.indexOf(-1L);
        if (hole < 0 && x.isConcrete()) {
            Shape y = Shape.ofSizes(sizes);
            if (x.elements() == y.elements()) {
                return List.of(y);
            }
        }
        long wanted =
                Shape.ofSizes(sizes.stream().filter(size -> size >= 0).toList()).elements();
        long has = Shape.of(x.dims().stream().filter(Dim::isFixed).toList()).elements();
        List<Dim> open = x.dims().stream().filter(dim -> !dim.isFixed()).toList();
        Dim inferred = Dim.unknown();
        // one size that is not known yet may make up for any factor; a factor that does not divide fits none
        boolean fits = has == 0 || wanted == 0 || hole >= 0 || wanted % has == 0;
        if (open.isEmpty()) {
            fits = hole < 0 ? has == wanted : has % wanted == 0;
            inferred = fits && hole >= 0 ? Dim.of(has / wanted) : inferred;
        } else if (has == 0) {
            fits = hole >= 0 || wanted == 0;
            inferred = Dim.of(0);
        } else if (open.size() == 1 && has == wanted) {
            inferred = open.getFirst();
        }
        if (!fits) {
            throw new ShapeException(mnemonic() + ": " + x + " does not have the elements of " + sizes + "; expected "
                    + (hole < 0 ? String.valueOf(wanted) : "a multiple of " + wanted) + ", has "
                    + (open.isEmpty() ? "" : "a multiple of ") + has);
        }
        List<Dim> dims = new ArrayList<>();
        for (long size : sizes) {
            dims.add(size < 0 ? inferred : Dim.of(size));
        }
        return List.of(Shape.of(dims));
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        return List.of(inputs.getFirst()
                .reshaped(Rules.results(this, inputs).getFirst().shape()));
    }

    /** To those sizes. */
    public static Reshape to(long... sizes) {
        Long[] all = new Long[sizes.length];
        Arrays.setAll(all, i -> sizes[i]);
        return new Reshape(List.of(all));
    }
}
