package dev.tenon.cpu.loops;

import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.machine.NormFactors;
import dev.tenon.cpu.machine.NormKernel;
import dev.tenon.cpu.machine.SoftmaxKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The inner loops over f32, in plain Java: what runs where there is nothing better. {@link VectorLoops} replaces hot
 * ones once they are compiled, {@link MachineLoops} the hottest at once.
 *
 * <p>Offsets are in bytes, counts in elements. Sources and destination are the same elements or do not overlap.
 */
public class Loops {
    public static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED;
    public static final ValueLayout.OfByte I8 = ValueLayout.JAVA_BYTE;

    /** The kernels to use now. */
    public static Loops current() {
        return LoopChoice.current();
    }

    /** What reports call these. */
    public String tier() {
        return "scalar";
    }

    /**
     * C[m, n] = start + A[m, k] B, in one pass over k.
     *
     * @param a rows of k consecutive elements
     * @param b panels as {@link Gemm} describes them, a stride from one to the next
     * @param c rows of n consecutive elements; overlaps neither operand
     * @param edge {@link Gemm#EDGE_BYTES} of workspace
     */
    public void product(Gemm.Size size, Matrix a, Matrix b, Matrix c, Start start, Place edge) {
        PlainProduct.run(size, a, b, c, start);
    }

    /** The sum of the products of two rows. */
    float dot(MemorySegment a, long aOffset, MemorySegment b, long bOffset, int n) {
        return PlainRows.dot(a, aOffset, b, bOffset, n);
    }

    /** y[j] = the product of q with row j of k, for n rows. */
    public void dots(
            MemorySegment q,
            long qOffset,
            MemorySegment k,
            long kOffset,
            int size,
            MemorySegment y,
            long yOffset,
            int n) {
        for (int j = 0; j < n; j++) {
            y.set(F32, yOffset + 4L * j, dot(q, qOffset, k, kOffset + 4L * j * size, size));
        }
    }

    /** y += the sum of weight[j] times row j of v, for n rows. */
    public void mix(
            MemorySegment weights,
            long weightsOffset,
            MemorySegment v,
            long vOffset,
            int size,
            MemorySegment y,
            long yOffset,
            int n) {
        PlainRows.mix(weights, weightsOffset, v, vOffset, size, y, yOffset, n);
    }

    public void unary(Unary op, MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        PlainElementwise.unary(op, x, xOffset, y, yOffset, n);
    }

    public void binary(
            BinaryFn fn,
            MemorySegment a,
            long aOffset,
            MemorySegment b,
            long bOffset,
            MemorySegment y,
            long yOffset,
            int n) {
        PlainElementwise.binary(fn, a, aOffset, b, bOffset, y, yOffset, n);
    }

    /** y (bytes, 1 or 0) = a fn b. */
    public void compare(
            CompareFn fn,
            MemorySegment a,
            long aOffset,
            MemorySegment b,
            long bOffset,
            MemorySegment y,
            long yOffset,
            int n) {
        PlainElementwise.compare(fn, a, aOffset, b, bOffset, y, yOffset, n);
    }

    /** y = condition (bytes) ? a : b. */
    public void select(Place condition, Place a, Place b, Place y, int n) {
        PlainElementwise.select(condition, a, b, y, n);
    }

    public void fill(MemorySegment y, long yOffset, float value, int n) {
        PlainElementwise.fill(y, yOffset, value, n);
    }

    /** factor x + addend. */
    public void affine(
            MemorySegment x, long xOffset, MemorySegment y, long yOffset, float factor, float addend, int n) {
        PlainElementwise.affine(x, xOffset, y, yOffset, factor, addend, n);
    }

    /** The largest, -inf for none; NaN where there is one. */
    public float max(MemorySegment x, long xOffset, int n) {
        return PlainRows.max(x, xOffset, n);
    }

    /** The smallest, inf for none; NaN where there is one. */
    public float min(MemorySegment x, long xOffset, int n) {
        return PlainRows.min(x, xOffset, n);
    }

    /** The sum, kept in double where there is more than a block. */
    public double sum(MemorySegment x, long xOffset, long n) {
        return PlainRows.sum(x, xOffset, n);
    }

    /** Writes two doubles: the sum of x - shift, and the sum of its squares. */
    public void moments(MemorySegment x, long xOffset, long n, float shift, MemorySegment to, long toOffset) {
        PlainRows.moments(x, xOffset, n, shift, to, toOffset);
    }

    /** sums += x; the sums are doubles. */
    public void accumulate(MemorySegment x, long xOffset, MemorySegment sums, long sumsOffset, int n) {
        PlainRows.accumulate(x, xOffset, sums, sumsOffset, n);
    }

    /** y = e^(x - shift); returns the sum of y. */
    public double expSum(MemorySegment x, long xOffset, float shift, MemorySegment y, long yOffset, int n) {
        return PlainRows.expSum(x, xOffset, shift, y, yOffset, n);
    }

    /** The same for a result that is too large for the caches: it goes past them where it can. */
    public double expSumStreaming(MemorySegment x, long xOffset, float shift, MemorySegment y, long yOffset, int n) {
        return expSum(x, xOffset, shift, y, yOffset, n);
    }

    /** y = ((x - mean) factor + addend) scale + bias, element by element; {@link Place#NONE} for no scale, no bias. */
    public void normalise(Place x, Place y, int n, NormFactors affine, Place scale, Place bias) {
        PlainRows.normalise(x, y, n, affine, scale, bias);
    }

    /** The same for a result that is too large for the caches: it goes past them where it can. */
    public void normaliseStreaming(Place x, Place y, int n, NormFactors affine, Place scale, Place bias) {
        normalise(x, y, n, affine, scale, bias);
    }

    /**
     * y = softmax(x scale + mask) over rows, as the formula says: a row with a NaN, or of -infinity alone, is NaN.
     *
     * @param mask added to the scaled elements; {@link Matrix#NONE} for none
     * @param work rows that hold what comes between, x's or y's or one for all
     */
    public void softmax(SoftmaxKernel.Form form, Matrix x, Matrix mask, Matrix work, Matrix y) {
        PlainRows.softmax(this, form, x, mask, work, y);
    }

    /**
     * LayerNorm or RmsNorm of the first rows; returns how many are done, which may be none: the caller does the next by
     * loops over single rows.
     */
    public int norm(NormKernel.Form form, Matrix x, Matrix y, Place scale, Place bias) {
        return 0;
    }
}
