package dev.tenon.core.ir;

import dev.tenon.core.error.Require;
import dev.tenon.core.error.ShapeException;

/**
 * The extent of one axis: a number, a name that a run gives a number to, or not known before the plan is made.
 *
 * <p>The arithmetic here is exact where both sides are numbers and answers {@link Unknown} where it cannot tell, so one
 * shape rule serves graphs with named dims and graphs without.
 */
public sealed interface Dim {
    /** A number of elements, 0 or more. */
    record Fixed(long size) implements Dim {
        public Fixed {
            if (size < 0) {
                throw new ShapeException("a dim cannot be negative: " + size);
            }
        }

        @Override
        public String toString() {
            return Long.toString(size);
        }
    }

    /** One number wherever the name stands in a graph; bound when a plan is made. */
    record Named(String name) implements Dim {
        public Named {
            Require.nonNull(name, "name");
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** Any number; each occurrence may be another. */
    enum Unknown implements Dim {
        ANY;

        @Override
        public String toString() {
            return "?";
        }
    }

    static Dim of(long size) {
        return new Fixed(size);
    }

    static Dim named(String name) {
        return new Named(name);
    }

    static Dim unknown() {
        return Unknown.ANY;
    }

    default boolean isFixed() {
        return this instanceof Fixed;
    }

    default boolean is(long size) {
        return this instanceof Fixed(long own) && own == size;
    }

    /** The number. @throws ShapeException where there is none yet */
    default long size() {
        if (this instanceof Fixed(long size)) {
            return size;
        }
        throw new ShapeException("dim " + this + " has no number yet; bind it first");
    }

    default Dim plus(Dim other) {
        Require.nonNull(other, "other");
        return isFixed() && other.isFixed() ? of(SizeMath.sum(SizeMath.DIMS, size(), other.size())) : unknown();
    }

    default Dim times(Dim other) {
        Require.nonNull(other, "other");
        if (isFixed() && other.isFixed()) {
            return of(SizeMath.product(SizeMath.DIMS, size(), other.size()));
        }
        return is(1) ? other : other.is(1) ? this : unknown();
    }

    /** Whether the two may be the same number: false only where both are numbers and differ. */
    default boolean mayEqual(Dim other) {
        Require.nonNull(other, "other");
        return !isFixed() || !other.isFixed() || size() == other.size();
    }

    /** The more precise of two dims that must be equal. */
    default Dim merge(Dim other) {
        Require.nonNull(other, "other");
        return isFixed() ? this : other.isFixed() ? other : this instanceof Named ? this : other;
    }
}
