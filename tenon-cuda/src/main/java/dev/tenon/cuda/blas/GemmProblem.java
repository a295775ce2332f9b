package dev.tenon.cuda.blas;

import dev.tenon.core.ir.DType;

/**
 * A matrix product as libraries are asked for it, in row-major terms: {@code d = activation(a b + c + bias)} over equal
 * matrices, {@code a} [m,k], {@code b} [k,n], {@code c} and {@code d} [m,n], bias [n]. Sums are made in f32, of f64 in
 * f64.
 *
 * @param batches matrices
 * @param m rows
 * @param n columns
 * @param k length of the sums
 * @param transposeA whether a lies as [k,m]
 * @param transposeB whether b lies as [n,k]
 * @param strideA elements from one matrix to the next, 0 where one serves all
 * @param strideB likewise
 * @param operands f32, f16, bf16 or f64
 * @param result the operands' type, or f32 for halves
 * @param addend whether there is a c; it lies like d
 * @param bias whether there is a bias, of the operands' type
 * @param activation the function
 * @param tf32 whether f32 operands may be rounded to TF32
 */
public record GemmProblem(
        long batches,
        long m,
        long n,
        long k,
        boolean transposeA,
        boolean transposeB,
        long strideA,
        long strideB,
        DType operands,
        DType result,
        boolean addend,
        boolean bias,
        Activation activation,
        boolean tf32) {
    /** What libraries can apply by themselves. */
    public enum Activation {
        NONE,
        RELU
    }

    public GemmProblem {
        if (batches < 1 || m < 1 || n < 1 || k < 1 || strideA < 0 || strideB < 0) {
            throw new IllegalArgumentException("product of " + batches + " matrices [" + m + "," + k + "] [" + k + ","
                    + n + "], strides " + strideA + " and " + strideB
                    + ": every size is at least 1; libraries leave the result of an empty sum as it is");
        }
        boolean floats =
                operands == DType.F32 || operands == DType.F16 || operands == DType.BF16 || operands == DType.F64;
        boolean widened = result == DType.F32 && operands.bytes() == 2;
        if (!floats || result != operands && !widened) {
            throw new IllegalArgumentException("product of " + operands + " to " + result
                    + "; expected f32, f16, bf16 or f64 and the same, or f32 for halves");
        }
    }

    /** The product alone, of so many matrices. */
    public GemmProblem plain(long count) {
        return new GemmProblem(
                count,
                m,
                n,
                k,
                transposeA,
                transposeB,
                strideA,
                strideB,
                operands,
                result,
                false,
                false,
                Activation.NONE,
                tf32);
    }

    /** The same product of so many rows. */
    GemmProblem withRows(long rows) {
        return new GemmProblem(
                batches,
                rows,
                n,
                k,
                transposeA,
                transposeB,
                strideA,
                strideB,
                operands,
                result,
                addend,
                bias,
                activation,
                tf32);
    }

    /** Elements from one row of a, as it lies, to the next. */
    long rowA() {
        return transposeA ? m : k;
    }

    long rowB() {
        return transposeB ? k : n;
    }

    /** Of the sizes alone: a record's own goes through every component, for each product of each plan. */
    @Override
    public int hashCode() {
        return Long.hashCode(((batches * 31 + m) * 31 + n) * 31 + k);
    }

    /** All of it; written out, since the name of a class of problems is made of it for each product of each plan. */
    @Override
    public String toString() {
        return batches + " x [" + m + "," + k + "]" + (transposeA ? "'" : "") + " [" + k + "," + n + "]"
                + (transposeB ? "'" : "") + ", strides " + strideA + " and " + strideB + ", " + operands + " to "
                + result
                + (addend ? ", addend" : "") + (bias ? ", bias" : "")
                + (activation == Activation.NONE ? "" : ", " + activation) + (tf32 ? ", TF32" : "");
    }
}
