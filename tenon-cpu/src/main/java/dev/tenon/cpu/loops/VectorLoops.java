package dev.tenon.cpu.loops;

import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.machine.NormFactors;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The hot loops on the Vector API. The loops themselves take whole vectors; what is left over at the end of a row goes
 * through a padded vector of the thread's own (functions) or scalar code (sums).
 *
 * <p>Vectors stay local to one method each: one that is passed to a method which is not inlined is boxed, ten times
 * slower.
 */
final class VectorLoops extends Loops {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    static final int LANES = SPECIES.length();
    static final int PANEL = 2 * LANES;
    /** Elements that lanes may sum in f32: 4096 over at least two accumulators. */
    private static final int BLOCK = FloatRows.BLOCK;

    /** Room for four padded vectors. */
    private static final ThreadLocal<MemorySegment> PADS =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(16L * LANES, 64));

    private static final long PAD = 4L * LANES;

    @Override
    public String tier() {
        return "vector";
    }

    @Override
    public void product(Gemm.Size size, Matrix a, Matrix b, Matrix c, Start start, Place edge) {
        boolean vectors = HotLoops.get().tile.ready() && isNative(edge);
        if (vectors && isNative(a) && isNative(b) && isNative(c)) {
            VectorProduct.run(size, a, b, c, start, edge);
        } else {
            super.product(size, a, b, c, start, edge);
        }
    }

    private static boolean isNative(Matrix matrix) {
        return Segments.isNative(matrix.memory());
    }

    private static boolean isNative(Place place) {
        return Segments.isNative(place.memory());
    }

    private static int whole(int n) {
        return n - n % LANES;
    }

    @Override
    public void unary(Unary op, MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (!VectorUnary.takes(op) || !HotLoops.of(op.fn()).ready() || !Segments.isNative(x) || !Segments.isNative(y)) {
            super.unary(op, x, xOffset, y, yOffset, n);
            return;
        }
        int whole = whole(n);
        VectorUnary.run(op, x, xOffset, y, yOffset, whole);
        if (whole < n) {
            MemorySegment pads = PADS.get();
            MemorySegment.copy(x, xOffset + 4L * whole, pads, 0, 4L * (n - whole));
            VectorUnary.run(op, pads, 0, pads, 0, LANES);
            MemorySegment.copy(pads, 0, y, yOffset + 4L * whole, 4L * (n - whole));
        }
    }

    @Override
    public void binary(
            BinaryFn fn,
            MemorySegment a,
            long aOffset,
            MemorySegment b,
            long bOffset,
            MemorySegment y,
            long yOffset,
            int n) {
        boolean vectors = VectorBinary.has(fn) && HotLoops.of(fn).ready();
        int whole = vectors && Segments.isNative(a) && Segments.isNative(b) && Segments.isNative(y) ? whole(n) : 0;
        if (whole > 0) {
            VectorBinary.run(fn, a, aOffset, b, bOffset, y, yOffset, whole);
        }
        if (whole < n) {
            long done = 4L * whole;
            super.binary(fn, a, aOffset + done, b, bOffset + done, y, yOffset + done, n - whole);
        }
    }

    @Override
    public void compare(
            CompareFn fn,
            MemorySegment a,
            long aOffset,
            MemorySegment b,
            long bOffset,
            MemorySegment y,
            long yOffset,
            int n) {
        int whole = VectorBinary.MASKS
                        && HotLoops.get().compare.ready()
                        && Segments.isNative(a)
                        && Segments.isNative(b)
                        && Segments.isNative(y)
                ? whole(n)
                : 0;
        if (whole > 0) {
            VectorBinary.compare(fn, a, aOffset, b, bOffset, y, yOffset, whole);
        }
        if (whole < n) {
            long done = 4L * whole;
            super.compare(fn, a, aOffset + done, b, bOffset + done, y, yOffset + whole, n - whole);
        }
    }

    @Override
    public void select(Place condition, Place a, Place b, Place y, int n) {
        boolean vectors = VectorBinary.MASKS && HotLoops.get().select.ready() && isNative(condition);
        int whole = vectors && isNative(a) && isNative(b) && isNative(y) ? whole(n) : 0;
        if (whole > 0) {
            VectorBinary.select(condition, a, b, y, whole);
        }
        if (whole < n) {
            long done = 4L * whole;
            super.select(condition.plus(whole), a.plus(done), b.plus(done), y.plus(done), n - whole);
        }
    }

    @Override
    public void affine(
            MemorySegment x, long xOffset, MemorySegment y, long yOffset, float factor, float addend, int n) {
        int whole = HotLoops.get().affine.ready() && Segments.isNative(x) && Segments.isNative(y) ? whole(n) : 0;
        if (whole > 0) {
            VectorUnary.affine(x, xOffset, y, yOffset, whole, factor, addend);
        }
        if (whole < n) {
            long done = 4L * whole;
            super.affine(x, xOffset + done, y, yOffset + done, factor, addend, n - whole);
        }
    }

    @Override
    public float max(MemorySegment x, long xOffset, int n) {
        int whole = HotLoops.get().max.ready() && Segments.isNative(x) ? whole(n) : 0;
        float most = whole == 0 ? Float.NEGATIVE_INFINITY : VectorRows.max(x, xOffset, whole);
        return whole == n ? most : Math.max(most, super.max(x, xOffset + 4L * whole, n - whole));
    }

    /** f32 sums of a block may overflow where doubles do not; then the scalar loop has the answer. */
    @Override
    public double sum(MemorySegment x, long xOffset, long n) {
        if (!HotLoops.get().sum.ready() || !Segments.isNative(x)) {
            return super.sum(x, xOffset, n);
        }
        double sum = 0;
        for (long at = 0; at < n; at += BLOCK) {
            int count = (int) Math.min(BLOCK, n - at);
            int whole = whole(count);
            float block = VectorRows.sum(x, xOffset + 4 * at, whole);
            sum += Float.isFinite(block) ? block : super.sum(x, xOffset + 4 * at, whole);
            if (whole < count) {
                sum += super.sum(x, xOffset + 4 * (at + whole), count - whole);
            }
        }
        return sum;
    }

    @Override
    public void moments(MemorySegment x, long xOffset, long n, float shift, MemorySegment to, long toOffset) {
        if (!HotLoops.get().moments.ready() || !Segments.isNative(x) || !Segments.isNative(to)) {
            super.moments(x, xOffset, n, shift, to, toOffset);
            return;
        }
        double sum = 0;
        double squares = 0;
        for (long at = 0; at < n; at += BLOCK) {
            int count = (int) Math.min(BLOCK, n - at);
            int whole = whole(count);
            VectorRows.moments(x, xOffset + 4 * at, whole, shift, to, toOffset);
            float blockSum = to.get(F32, toOffset);
            float blockSquares = to.get(F32, toOffset + 4);
            if (Float.isFinite(blockSum) && Float.isFinite(blockSquares)) {
                sum += blockSum;
                squares += blockSquares;
            } else {
                whole = 0;
            }
            if (whole < count) {
                super.moments(x, xOffset + 4 * (at + whole), count - whole, shift, to, toOffset);
                sum += to.get(Convert.F64, toOffset);
                squares += to.get(Convert.F64, toOffset + 8);
            }
        }
        to.set(Convert.F64, toOffset, sum);
        to.set(Convert.F64, toOffset + 8, squares);
    }

    @Override
    public double expSum(MemorySegment x, long xOffset, float shift, MemorySegment y, long yOffset, int n) {
        if (!HotLoops.get().expSum.ready() || !Segments.isNative(x) || !Segments.isNative(y)) {
            return super.expSum(x, xOffset, shift, y, yOffset, n);
        }
        int whole = whole(n);
        double sum = VectorRows.expSum(x, xOffset, shift, y, yOffset, whole);
        if (whole < n) {
            int rest = n - whole;
            MemorySegment pads = PADS.get();
            fill(pads, 0, Float.NEGATIVE_INFINITY, LANES);
            MemorySegment.copy(x, xOffset + 4L * whole, pads, 0, 4L * rest);
            sum += VectorRows.expSum(pads, 0, shift, pads, PAD, LANES);
            MemorySegment.copy(pads, PAD, y, yOffset + 4L * whole, 4L * rest);
        }
        return sum;
    }

    @Override
    public void normalise(Place x, Place y, int n, NormFactors affine, Place scale, Place bias) {
        boolean scaled = !scale.isNone();
        boolean biased = !bias.isNone();
        boolean vectors = HotLoops.get().normalise.ready() && isNative(x) && isNative(y);
        vectors = vectors && (!scaled || isNative(scale)) && (!biased || isNative(bias));
        int whole = !vectors || (biased && !scaled) ? 0 : whole(n);
        if (whole == 0) {
            super.normalise(x, y, n, affine, scale, bias);
            return;
        }
        if (scaled && biased) {
            VectorRows.normaliseScaleAndShift(x, y, whole, affine, scale, bias);
        } else if (scaled) {
            VectorRows.normaliseAndScale(x, y, whole, affine, scale);
        } else {
            VectorRows.normalise(x, y, whole, affine);
        }
        if (whole < n) {
            long done = 4L * whole;
            super.normalise(x.plus(done), y.plus(done), n - whole, affine, scale.plus(done), bias.plus(done));
        }
    }

    @Override
    float dot(MemorySegment a, long aOffset, MemorySegment b, long bOffset, int n) {
        if (!HotLoops.get().dot.ready() || !Segments.isNative(a) || !Segments.isNative(b)) {
            return super.dot(a, aOffset, b, bOffset, n);
        }
        int whole = whole(n);
        float sum = VectorRows.dot(a, aOffset, b, bOffset, whole);
        return whole == n ? sum : sum + super.dot(a, aOffset + 4L * whole, b, bOffset + 4L * whole, n - whole);
    }

    @Override
    public void mix(
            MemorySegment weights,
            long weightsOffset,
            MemorySegment v,
            long vOffset,
            int size,
            MemorySegment y,
            long yOffset,
            int n) {
        int whole = whole(size);
        boolean vectors = HotLoops.get().mix.ready()
                && Segments.isNative(weights)
                && Segments.isNative(v)
                && Segments.isNative(y);
        if (!vectors || whole < size) {
            super.mix(weights, weightsOffset, v, vOffset, size, y, yOffset, n);
            return;
        }
        for (int column = 0; column < whole; column += LANES) {
            long at = 4L * column;
            VectorRows.mix(weights, weightsOffset, v, vOffset + at, size, y, yOffset + at, n);
        }
    }
}
