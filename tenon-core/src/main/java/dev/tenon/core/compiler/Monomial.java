package dev.tenon.core.compiler;

import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A number times named dims: {@code 12 * batch * length}.
 *
 * @param names in alphabetical order, as often as they are factors
 */
record Monomial(long factor, List<String> names) {
    static Monomial of(long number) {
        return new Monomial(number, List.of());
    }

    /** The size of a dim; null for an unknown one. */
    static @Nullable Monomial of(Dim dim) {
        return switch (dim) {
            case Dim.Fixed(long size) -> of(size);
            case Dim.Named(String name) -> new Monomial(1, List.of(name));
            case Dim.Unknown _ -> null;
        };
    }

    /** The number of elements of a shape; null where it is unknown. */
    static @Nullable Monomial elements(Shape shape) {
        Monomial all = of(1);
        for (Dim dim : shape.dims()) {
            Monomial size = of(dim);
            all = size == null || all == null ? null : all.times(size);
        }
        return all;
    }

    /** The dim of that size; an unknown one where neither a number nor a name says it. */
    static Dim dim(@Nullable Monomial size) {
        if (size == null || size.factor < 0) {
            return Dim.unknown();
        }
        if (size.isNumber()) {
            return Dim.of(size.factor);
        }
        return size.factor == 1 && size.names.size() == 1 ? Dim.named(size.names.getFirst()) : Dim.unknown();
    }

    boolean isNumber() {
        return names.isEmpty();
    }

    boolean is(long number) {
        return isNumber() && factor == number;
    }

    /** The product; null where its factor overflows. */
    @Nullable
    Monomial times(Monomial other) {
        long product = factor * other.factor;
        if (Math.multiplyHigh(factor, other.factor) != product >> 63) {
            return null;
        }
        List<String> all = new ArrayList<>(names);
        all.addAll(other.names);
        all.sort(null);
        return new Monomial(product, List.copyOf(all));
    }

    /** The quotient; null unless it is a monomial whatever numbers the names get. */
    @Nullable
    Monomial over(Monomial other) {
        if (other.factor == 0 || factor % other.factor != 0) {
            return null;
        }
        List<String> rest = new ArrayList<>(names);
        for (String name : other.names) {
            if (!rest.remove(name)) {
                return null;
            }
        }
        return new Monomial(factor / other.factor, List.copyOf(rest));
    }

    /** 1 where the two are equal whatever numbers of 1 or more the names get, 0 where they never are, else null. */
    @Nullable
    Monomial equal(Monomial other) {
        if (equals(other)) {
            return of(1);
        }
        boolean never = names.equals(other.names)
                || (isNumber() && factor <= 0 && other.factor > 0)
                || (other.isNumber() && other.factor <= 0 && factor > 0);
        return never ? of(0) : null;
    }

    /** The sizes of a reshape's result; null where nothing is known of them. */
    static @Nullable Monomial @Nullable [] reshaped(Shape x, @Nullable Monomial @Nullable [] sizes, boolean allowZero) {
        if (sizes == null || !x.isRanked()) {
            return null;
        }
        @Nullable Monomial[] wanted = sizes.clone();
        Monomial rest = Monomial.elements(x);
        int hole = -1;
        for (int axis = 0; axis < wanted.length; axis++) {
            Monomial size = wanted[axis];
            if (size != null && size.is(0) && !allowZero) {
                size = axis < x.rank() ? Monomial.of(x.dim(axis)) : null;
                wanted[axis] = size;
            }
            if (size != null && size.is(-1)) {
                hole = axis;
            } else {
                rest = rest == null || size == null ? null : rest.over(size);
            }
        }
        if (hole >= 0) {
            wanted[hole] = rest;
        }
        return wanted;
    }
}
