package dev.tenon.core.ir;

import dev.tenon.core.error.Require;
import dev.tenon.core.error.ShapeException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The dims of a value, outermost first; row-major. A scalar has none. Immutable. */
public final class Shape {
    private static final Shape UNRANKED = new Shape(null);
    private static final Shape SCALAR = new Shape(List.of());

    private final @Nullable List<Dim> dims;

    private Shape(@Nullable List<Dim> dims) {
        this.dims = dims;
    }

    public static Shape of(long... sizes) {
        return Require.nonNull(sizes, "sizes").length == 0
                ? SCALAR
                : new Shape(Arrays.stream(sizes).mapToObj(Dim::of).toList());
    }

    public static Shape of(Dim... dims) {
        return new Shape(List.of(Require.elements(dims, "dims")));
    }

    public static Shape of(List<Dim> dims) {
        return new Shape(List.copyOf(Require.elements(dims, "dims")));
    }

    public static Shape ofSizes(List<Long> sizes) {
        return new Shape(Require.elements(sizes, "sizes").stream().map(Dim::of).toList());
    }

    public static Shape scalar() {
        return SCALAR;
    }

    /** The shape of a value whose number of axes is not known before the plan is made. */
    public static Shape unranked() {
        return UNRANKED;
    }

    /** A shape of {@code rank} unknown dims. */
    public static Shape unknown(int rank) {
        return new Shape(java.util.Collections.nCopies(rank, Dim.unknown()));
    }

    public boolean isRanked() {
        return dims != null;
    }

    /** Whether every dim is a number. */
    public boolean isConcrete() {
        return dims != null && dims.stream().allMatch(Dim::isFixed);
    }

    public List<Dim> dims() {
        if (dims == null) {
            throw new ShapeException("the rank is not known yet");
        }
        return dims;
    }

    public int rank() {
        return dims().size();
    }

    /**
     * The extent of an axis, counted from the front.
     *
     * @throws dev.tenon.core.error.InputException when it is out of range
     */
    public Dim dim(int axis) {
        return dims().get(inRange(axis));
    }

    /** The number of elements along an axis of a concrete shape. */
    public long size(int axis) {
        return dims().get(inRange(axis)).size();
    }

    private int inRange(int axis) {
        return (int) Require.index(axis, rank(), "axis");
    }

    /** All sizes of a concrete shape; a fresh array. */
    public long[] sizes() {
        return dims().stream().mapToLong(Dim::size).toArray();
    }

    /** The number of elements of a concrete shape, 1 for a scalar. @throws ShapeException past 2^63 */
    public long elements() {
        return elements(0, rank());
    }

    /** The product of the sizes of the axes {@code [from, to)}. @throws ShapeException past 2^63 */
    public long elements(int from, int to) {
        long product = 1;
        for (int axis = from; axis < to; axis++) {
            if (size(axis) == 0) {
                return 0;
            }
            product = SizeMath.estimate(product, size(axis));
        }
        if (product == Long.MAX_VALUE) {
            throw new ShapeException("shape " + this + " has more than 2^63 elements; expected fewer");
        }
        return product;
    }

    /**
     * Row-major strides of a concrete shape, in elements; of a shape without elements 0 past the innermost axis of size
     * 0.
     *
     * @throws ShapeException past 2^63
     */
    public long[] strides() {
        boolean empty = elements() == 0;
        long[] strides = new long[rank()];
        long stride = 1;
        for (int axis = rank() - 1; axis >= 0; axis--) {
            strides[axis] = stride;
            stride = empty ? SizeMath.estimate(stride, size(axis)) : SizeMath.product("shape", stride, size(axis));
        }
        return strides;
    }

    /** An axis counted from either end, as one from the front. @throws ShapeException when it is out of range */
    public int axis(long axis) {
        int rank = rank();
        if (axis < -rank || axis >= rank) {
            throw new ShapeException("axis " + axis + " is out of range for shape " + this + " of rank " + rank);
        }
        return (int) (axis < 0 ? axis + rank : axis);
    }

    public Shape with(int axis, Dim dim) {
        Require.nonNull(dim, "dim");
        List<Dim> copy = new java.util.ArrayList<>(dims());
        copy.set(inRange(axis), dim);
        return of(copy);
    }

    public Shape without(int axis) {
        List<Dim> copy = new java.util.ArrayList<>(dims());
        copy.remove(inRange(axis));
        return of(copy);
    }

    /** The axes {@code [from, to)}. */
    public Shape range(int from, int to) {
        Require.index(from, rank() + 1L, "from");
        Require.index(to, rank() + 1L, "to");
        return of(dims().subList(Math.min(from, to), to));
    }

    public Shape concat(Shape tail) {
        List<Dim> all = new java.util.ArrayList<>(dims());
        all.addAll(Require.nonNull(tail, "tail").dims());
        return of(all);
    }

    /** Numpy broadcasting of two shapes. @throws ShapeException naming both where it does not hold */
    public static Shape broadcast(Shape a, Shape b) {
        int rank =
                Math.max(Require.nonNull(a, "a").rank(), Require.nonNull(b, "b").rank());
        Dim[] dims = new Dim[rank];
        for (int i = 1; i <= rank; i++) {
            Dim x = i <= a.rank() ? a.dim(a.rank() - i) : Dim.of(1);
            Dim y = i <= b.rank() ? b.dim(b.rank() - i) : Dim.of(1);
            if (x.is(1)) {
                dims[rank - i] = y;
            } else if (y.is(1)) {
                dims[rank - i] = x;
            } else if (!x.mayEqual(y)) {
                throw new ShapeException("shapes " + a + " and " + b + " do not broadcast: " + x + " against " + y);
            } else if (x.isFixed() || y.isFixed()) {
                // a size past 1 on one side settles it: the other is that size or 1
                dims[rank - i] = x.isFixed() ? x : y;
            } else {
                dims[rank - i] = x.equals(y) ? x : Dim.unknown();
            }
        }
        return of(dims);
    }

    /** What both shapes say: dims that are equal stay, others are unknown; no rank where the ranks differ. */
    public Shape common(Shape other) {
        if (dims == null || Require.nonNull(other, "other").dims == null || rank() != other.rank()) {
            return UNRANKED;
        }
        return of(java.util.stream.IntStream.range(0, rank())
                .mapToObj(i -> dim(i).equals(other.dim(i)) ? dim(i) : Dim.unknown())
                .toList());
    }

    /** Whether the two may be the same shape once every dim has its number. */
    public boolean mayEqual(Shape other) {
        if (dims == null || Require.nonNull(other, "other").dims == null) {
            return true;
        }
        if (rank() != other.rank()) {
            return false;
        }
        for (int axis = 0; axis < rank(); axis++) {
            if (!dim(axis).mayEqual(other.dim(axis))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Shape shape && java.util.Objects.equals(dims, shape.dims);
    }

    @Override
    public int hashCode() {
        return java.util.Objects.hashCode(dims);
    }

    /** {@code [2,batch,?]}; {@code [...]} where the rank is not known. */
    @Override
    public String toString() {
        return dims == null ? "[...]" : dims.stream().map(Dim::toString).collect(Collectors.joining(",", "[", "]"));
    }
}
