package dev.tenon.core.ir;

import dev.tenon.core.error.Require;
import dev.tenon.core.error.ShapeException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The dims of a value, outermost first; row-major. A scalar has none. Immutable. */
public final class Shape {
    private static final Shape UNRANKED = new Shape(null, null);
    private static final Shape SCALAR = new Shape(new long[0], List.of());

    /** The sizes of a concrete shape; null for others. */
    private final long @Nullable [] sizes;
    /** Null where the rank is not known; of a concrete shape made on first use, and a race makes equal ones. */
    private @Nullable List<Dim> dims;

    private Shape(long @Nullable [] sizes, @Nullable List<Dim> dims) {
        this.sizes = sizes;
        this.dims = dims;
    }

    public static Shape of(long... sizes) {
        return concrete(Require.nonNull(sizes, "sizes").clone());
    }

    public static Shape of(Dim... dims) {
        long[] sizes = new long[Require.elements(dims, "dims").length];
        for (int axis = 0; axis < sizes.length; axis++) {
            if (!dims[axis].isFixed()) {
                return new Shape(null, List.of(dims));
            }
            sizes[axis] = dims[axis].size();
        }
        return concrete(sizes);
    }

    public static Shape of(List<Dim> dims) {
        return of(Require.elements(dims, "dims").toArray(Dim[]::new));
    }

    public static Shape ofSizes(List<Long> sizes) {
        long[] own = new long[Require.nonNull(sizes, "sizes").size()];
        for (int axis = 0; axis < own.length; axis++) {
            Long size = sizes.get(axis);
            own[axis] = size != null ? size : Require.elements(sizes, "sizes").get(axis);
        }
        return concrete(own);
    }

    private static Shape concrete(long[] sizes) {
        for (long size : sizes) {
            if (size < 0) {
                throw new ShapeException("a dim cannot be negative: " + size);
            }
        }
        return sizes.length == 0 ? SCALAR : new Shape(sizes, null);
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
        return rank == 0 ? SCALAR : new Shape(null, java.util.Collections.nCopies(rank, Dim.unknown()));
    }

    public boolean isRanked() {
        return sizes != null || dims != null;
    }

    /** Whether every dim is a number. */
    public boolean isConcrete() {
        return sizes != null;
    }

    public List<Dim> dims() {
        List<Dim> known = dims;
        if (known == null) {
            if (sizes == null) {
                throw new ShapeException("the rank is not known yet");
            }
            Dim[] made = new Dim[sizes.length];
            Arrays.setAll(made, axis -> Dim.of(sizes[axis]));
            known = List.of(made);
            dims = known;
        }
        return known;
    }

    public int rank() {
        return sizes != null ? sizes.length : dims().size();
    }

    /**
     * The extent of an axis, counted from the front.
     *
     * @throws dev.tenon.core.error.InputException when it is out of range
     */
    public Dim dim(int axis) {
        return sizes != null ? Dim.of(sizes[inRange(axis)]) : dims().get(inRange(axis));
    }

    /** The number of elements along an axis of a concrete shape. */
    public long size(int axis) {
        return sizes != null ? sizes[inRange(axis)] : dims().get(inRange(axis)).size();
    }

    private int inRange(int axis) {
        return (int) Require.index(axis, rank(), "axis");
    }

    /** All sizes of a concrete shape; a fresh array. */
    public long[] sizes() {
        if (sizes != null) {
            return sizes.clone();
        }
        long[] all = new long[rank()];
        for (int axis = 0; axis < all.length; axis++) {
            all[axis] = size(axis); // says which dim has no number
        }
        return all;
    }

    /** The number of elements of a concrete shape, 1 for a scalar. @throws ShapeException past 2^63 */
    public long elements() {
        return elements(0, rank());
    }

    /** The product of the sizes of the axes {@code [from, to)}. @throws ShapeException past 2^63 */
    public long elements(int from, int to) {
        long @Nullable [] known = sizes != null && from >= 0 && to <= sizes.length ? sizes : null;
        long product = 1;
        for (int axis = from; axis < to; axis++) {
            long size = known != null ? known[axis] : size(axis);
            if (size == 0) {
                return 0;
            }
            product = SizeMath.estimate(product, size);
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
        if (sizes != null && dim.isFixed()) {
            long[] copy = sizes.clone();
            copy[inRange(axis)] = dim.size();
            return concrete(copy);
        }
        List<Dim> copy = new java.util.ArrayList<>(dims());
        copy.set(inRange(axis), dim);
        return of(copy);
    }

    public Shape without(int axis) {
        if (sizes != null) {
            return range(0, inRange(axis)).concat(range(axis + 1, sizes.length));
        }
        List<Dim> copy = new java.util.ArrayList<>(dims());
        copy.remove(inRange(axis));
        return of(copy);
    }

    /** The axes {@code [from, to)}. */
    public Shape range(int from, int to) {
        Require.index(from, rank() + 1L, "from");
        Require.index(to, rank() + 1L, "to");
        if (sizes != null) {
            return concrete(Arrays.copyOfRange(sizes, Math.min(from, to), to));
        }
        return of(dims().subList(Math.min(from, to), to));
    }

    public Shape concat(Shape tail) {
        long[] more = Require.nonNull(tail, "tail").sizes;
        if (sizes != null && more != null) {
            long[] all = Arrays.copyOf(sizes, sizes.length + more.length);
            System.arraycopy(more, 0, all, sizes.length, more.length);
            return concrete(all);
        }
        List<Dim> all = new java.util.ArrayList<>(dims());
        all.addAll(Require.nonNull(tail, "tail").dims());
        return of(all);
    }

    /** Numpy broadcasting of two shapes. @throws ShapeException naming both where it does not hold */
    public static Shape broadcast(Shape a, Shape b) {
        long[] sizesA = Require.nonNull(a, "a").sizes;
        long[] sizesB = Require.nonNull(b, "b").sizes;
        if (sizesA != null && sizesB != null) {
            if (stretched(sizesB, sizesA)) {
                return a;
            }
            if (stretched(sizesA, sizesB)) {
                return b;
            }
        }
        List<Dim> left = Require.nonNull(a, "a").dims();
        List<Dim> right = Require.nonNull(b, "b").dims();
        int rank = Math.max(left.size(), right.size());
        Dim[] dims = new Dim[rank];
        boolean asA = left.size() == rank;
        boolean asB = right.size() == rank;
        for (int i = 1; i <= rank; i++) {
            Dim x = i <= left.size() ? left.get(left.size() - i) : null;
            Dim y = i <= right.size() ? right.get(right.size() - i) : null;
            Dim both = x == null ? y : y == null ? x : broadcast(x, y);
            if (both == null) {
                throw new ShapeException("shapes " + a + " and " + b + " do not broadcast: " + x + " against " + y);
            }
            dims[rank - i] = both;
            asA &= both.equals(x);
            asB &= both.equals(y);
        }
        return asA ? a : asB ? b : of(dims);
    }

    /** Whether the first of two shapes is the second once its axes of size 1 are repeated. */
    private static boolean stretched(long[] small, long[] large) {
        int lead = large.length - small.length;
        for (int axis = 0; axis < small.length; axis++) {
            if (lead < 0 || (small[axis] != large[lead + axis] && small[axis] != 1)) {
                return false;
            }
        }
        return true;
    }

    /** Null where the two cannot broadcast. */
    private static @Nullable Dim broadcast(Dim x, Dim y) {
        if (x.is(1)) {
            return y;
        } else if (y.is(1)) {
            return x;
        } else if (!x.mayEqual(y)) {
            return null;
        } else if (x.isFixed() || y.isFixed()) {
            // a size past 1 on one side settles it: the other is that size or 1
            return x.isFixed() ? x : y;
        }
        return x.equals(y) ? x : Dim.unknown();
    }

    /** What both shapes say: dims that are equal stay, others are unknown; no rank where the ranks differ. */
    public Shape common(Shape other) {
        if (!isRanked() || !Require.nonNull(other, "other").isRanked() || rank() != other.rank()) {
            return UNRANKED;
        }
        Dim[] common = new Dim[rank()];
        for (int axis = 0; axis < common.length; axis++) {
            common[axis] = dim(axis).equals(other.dim(axis)) ? dim(axis) : Dim.unknown();
        }
        return of(common);
    }

    /** Whether the two may be the same shape once every dim has its number. */
    public boolean mayEqual(Shape other) {
        if (!isRanked() || !Require.nonNull(other, "other").isRanked()) {
            return true;
        }
        if (sizes != null && other.sizes != null) {
            return Arrays.equals(sizes, other.sizes);
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

    /** Whether the two are the same shape whatever numbers the names get. */
    public boolean mustEqual(Shape other) {
        return equals(Require.nonNull(other, "other")) && isKnown();
    }

    /** Whether every dim is a number or a name. */
    public boolean isKnown() {
        if (sizes != null || dims == null) {
            return sizes != null;
        }
        for (int axis = 0; axis < dims.size(); axis++) {
            if (dims.get(axis) instanceof Dim.Unknown) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof Shape shape
                        && Arrays.equals(sizes, shape.sizes)
                        && (sizes != null || java.util.Objects.equals(dims, shape.dims)));
    }

    @Override
    public int hashCode() {
        return sizes != null ? Arrays.hashCode(sizes) : java.util.Objects.hashCode(dims);
    }

    /** {@code [2,batch,?]}; {@code [...]} where the rank is not known. */
    @Override
    public String toString() {
        return !isRanked() ? "[...]" : dims().stream().map(Dim::toString).collect(Collectors.joining(",", "[", "]"));
    }
}
