package dev.tenon.collective.inprocess;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.collective.ReduceOp;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Tolerance;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.util.function.BinaryOperator;
import java.util.function.DoubleBinaryOperator;

/**
 * What a reduction gives, worked out another way: floats in float64 with the error that their own type may add,
 * integers exactly in unlimited ones.
 */
final class Expected {
    private Expected() {}

    static void assertReduced(
            String what, MemorySegment result, MemorySegment[] inputs, DType dtype, ReduceOp op, int length) {
        for (int i = 0; i < length; i++) {
            if (dtype.isFloat()) {
                assertFloat(what + " element " + i, Elements.getDouble(dtype, result, i), inputs, dtype, op, i);
            } else {
                assertThat(Elements.bits(dtype, result, i))
                        .as(what + " element " + i)
                        .isEqualTo(integer(inputs, dtype, op, i));
            }
        }
    }

    private static void assertFloat(
            String what, double actual, MemorySegment[] inputs, DType dtype, ReduceOp op, int i) {
        DoubleBinaryOperator fold = switch (op) {
            case SUM, MEAN -> Double::sum;
            case PROD -> (a, b) -> a * b;
            case MAX -> Math::max;
            case MIN -> Math::min;
        };
        double value = Elements.getDouble(dtype, inputs[0], i);
        double magnitude = Math.abs(value);
        for (int rank = 1; rank < inputs.length; rank++) {
            double next = Elements.getDouble(dtype, inputs[rank], i);
            value = fold.applyAsDouble(value, next);
            magnitude = op == ReduceOp.PROD ? Math.abs(value) : magnitude + Math.abs(next);
        }
        if (op == ReduceOp.MEAN) {
            value /= inputs.length;
            magnitude /= inputs.length;
        }
        double rounded = Elements.toDouble(dtype, Elements.fromDouble(dtype, value));
        boolean exact = op == ReduceOp.MAX || op == ReduceOp.MIN;
        // a rounding of the accumulator a rank, then one of the type itself: half a unit in the last place, or one
        // where it was on an edge
        double accumulated = exact ? 0 : inputs.length * magnitude * (dtype == DType.F64 ? 0x1p-52 : 0x1p-23);
        double unit = exact ? 0 : Math.abs(rounded) * Tolerance.epsilon(dtype) + least(dtype);
        assertThat(actual).as(what).isBetween(rounded - unit - accumulated, rounded + unit + accumulated);
    }

    /** The step between subnormal numbers. */
    private static double least(DType dtype) {
        return switch (dtype) {
            case F16 -> 0x1p-24;
            case F8E4M3 -> 0x1p-9;
            case F8E5M2 -> 0x1p-16;
            default -> 0;
        };
    }

    private static long integer(MemorySegment[] inputs, DType dtype, ReduceOp op, int i) {
        BinaryOperator<BigInteger> fold = switch (op) {
            case SUM, MEAN -> BigInteger::add;
            case PROD -> BigInteger::multiply;
            case MAX -> BigInteger::max;
            case MIN -> BigInteger::min;
        };
        BigInteger value = number(dtype, inputs[0], i);
        for (int rank = 1; rank < inputs.length; rank++) {
            value = fold.apply(value, number(dtype, inputs[rank], i));
        }
        if (op == ReduceOp.MEAN) {
            value = (dtype.bits() == 64 ? wrapped(dtype, value) : value).divide(BigInteger.valueOf(inputs.length));
        }
        return Elements.fromLong(dtype, value.longValue());
    }

    private static BigInteger number(DType dtype, MemorySegment memory, int i) {
        return wrapped(dtype, BigInteger.valueOf(Elements.getLong(dtype, memory, i)));
    }

    /** A 64-bit number of the type: sums of these wrap. */
    private static BigInteger wrapped(DType dtype, BigInteger value) {
        BigInteger low = BigInteger.valueOf(value.longValue());
        return dtype == DType.U64 && low.signum() < 0 ? low.add(BigInteger.ONE.shiftLeft(64)) : low;
    }
}
