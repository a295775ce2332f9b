package dev.tenon.core.build;

import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Unary;

/**
 * Adds arithmetic, element by element. Two operands broadcast as in numpy, dims aligned from the back, and have one
 * element type, which the result has.
 *
 * <p>Errors: {@link dev.tenon.core.error.DTypeException} for types that differ or that a function does not take,
 * {@link dev.tenon.core.error.ShapeException} for shapes that do not broadcast,
 * {@link dev.tenon.core.error.InputException} for
 * null.
 */
public interface ArithmeticOps extends OpBuilder {
    /** Adds a function of one number that has no parameters. */
    default Value unary(UnaryFn fn, Value x) {
        Words.option("unary", "fn", fn);
        return add(Unary.of(fn), Words.operand("unary", "x", x));
    }

    /** Adds a function of two numbers. */
    default Value binary(BinaryFn fn, Value a, Value b) {
        Words.option("binary", "fn", fn);
        return add(new Binary(fn), Words.operands("binary", "a b", a, b));
    }

    /** Adds a + b. */
    default Value add(Value a, Value b) {
        return binary(BinaryFn.ADD, a, b);
    }

    /** Adds a + b; b becomes a scalar of a's type. */
    default Value add(Value a, double b) {
        return binary(BinaryFn.ADD, a, Words.scalar(this, "add", a, b));
    }

    /** Adds a - b. */
    default Value sub(Value a, Value b) {
        return binary(BinaryFn.SUB, a, b);
    }

    /** Adds a - b; b becomes a scalar of a's type. */
    default Value sub(Value a, double b) {
        return binary(BinaryFn.SUB, a, Words.scalar(this, "sub", a, b));
    }

    /** Adds a b, element by element. */
    default Value mul(Value a, Value b) {
        return binary(BinaryFn.MUL, a, b);
    }

    /** Adds a b, element by element; b becomes a scalar of a's type. */
    default Value mul(Value a, double b) {
        return binary(BinaryFn.MUL, a, Words.scalar(this, "mul", a, b));
    }

    /** Adds a / b, truncated for integers. */
    default Value div(Value a, Value b) {
        return binary(BinaryFn.DIV, a, b);
    }

    /** Adds a / b, truncated for integers; b becomes a scalar of a's type. */
    default Value div(Value a, double b) {
        return binary(BinaryFn.DIV, a, Words.scalar(this, "div", a, b));
    }

    /** Adds a^b. */
    default Value pow(Value a, Value b) {
        return binary(BinaryFn.POW, a, b);
    }

    /** Adds a^b; b becomes a scalar of a's type. */
    default Value pow(Value a, double b) {
        return binary(BinaryFn.POW, a, Words.scalar(this, "pow", a, b));
    }

    /** Adds a / b rounded down. */
    default Value floorDiv(Value a, Value b) {
        return binary(BinaryFn.FLOOR_DIV, a, b);
    }

    /** Adds the remainder of a / b with the divisor's sign. */
    default Value mod(Value a, Value b) {
        return binary(BinaryFn.MOD, a, b);
    }

    /** Adds the remainder of a / b with the dividend's sign. */
    default Value fmod(Value a, Value b) {
        return binary(BinaryFn.FMOD, a, b);
    }

    /** Adds the angle of the point (b, a). */
    default Value atan2(Value a, Value b) {
        return binary(BinaryFn.ATAN2, a, b);
    }

    /** Adds the smaller of two elements; NaN wins. */
    default Value min(Value a, Value b) {
        return binary(BinaryFn.MIN, a, b);
    }

    /** Adds the larger of two elements; NaN wins. */
    default Value max(Value a, Value b) {
        return binary(BinaryFn.MAX, a, b);
    }

    /** Adds -x. */
    default Value neg(Value x) {
        return unary(UnaryFn.NEG, x);
    }

    /** Adds |x|. */
    default Value abs(Value x) {
        return unary(UnaryFn.ABS, x);
    }

    /** Adds -1, 0 or 1; of a zero, that zero. */
    default Value sign(Value x) {
        return unary(UnaryFn.SIGN, x);
    }

    /** Adds the square root. */
    default Value sqrt(Value x) {
        return unary(UnaryFn.SQRT, x);
    }

    /** Adds 1 / sqrt(x). */
    default Value rsqrt(Value x) {
        return unary(UnaryFn.RSQRT, x);
    }

    /** Adds 1 / x. */
    default Value reciprocal(Value x) {
        return unary(UnaryFn.RECIPROCAL, x);
    }

    /** Adds e^x. */
    default Value exp(Value x) {
        return unary(UnaryFn.EXP, x);
    }

    /** Adds 2^x. */
    default Value exp2(Value x) {
        return unary(UnaryFn.EXP2, x);
    }

    /** Adds e^x - 1, exact near 0. */
    default Value expm1(Value x) {
        return unary(UnaryFn.EXPM1, x);
    }

    /** Adds the natural logarithm. */
    default Value log(Value x) {
        return unary(UnaryFn.LOG, x);
    }

    /** Adds the logarithm to base 2. */
    default Value log2(Value x) {
        return unary(UnaryFn.LOG2, x);
    }

    /** Adds log(1 + x), exact near 0. */
    default Value log1p(Value x) {
        return unary(UnaryFn.LOG1P, x);
    }

    /** Adds the sine of radians. */
    default Value sin(Value x) {
        return unary(UnaryFn.SIN, x);
    }

    /** Adds the cosine of radians. */
    default Value cos(Value x) {
        return unary(UnaryFn.COS, x);
    }

    /** Adds the tangent of radians. */
    default Value tan(Value x) {
        return unary(UnaryFn.TAN, x);
    }

    /** Adds the arc sine. */
    default Value asin(Value x) {
        return unary(UnaryFn.ASIN, x);
    }

    /** Adds the arc cosine. */
    default Value acos(Value x) {
        return unary(UnaryFn.ACOS, x);
    }

    /** Adds the arc tangent. */
    default Value atan(Value x) {
        return unary(UnaryFn.ATAN, x);
    }

    /** Adds the hyperbolic sine. */
    default Value sinh(Value x) {
        return unary(UnaryFn.SINH, x);
    }

    /** Adds the hyperbolic cosine. */
    default Value cosh(Value x) {
        return unary(UnaryFn.COSH, x);
    }

    /** Adds the hyperbolic tangent. */
    default Value tanh(Value x) {
        return unary(UnaryFn.TANH, x);
    }

    /** Adds the inverse of sinh. */
    default Value asinh(Value x) {
        return unary(UnaryFn.ASINH, x);
    }

    /** Adds the inverse of cosh. */
    default Value acosh(Value x) {
        return unary(UnaryFn.ACOSH, x);
    }

    /** Adds the inverse of tanh. */
    default Value atanh(Value x) {
        return unary(UnaryFn.ATANH, x);
    }

    /** Adds the error function. */
    default Value erf(Value x) {
        return unary(UnaryFn.ERF, x);
    }

    /** Adds the largest integer that is not larger. */
    default Value floor(Value x) {
        return unary(UnaryFn.FLOOR, x);
    }

    /** Adds the smallest integer that is not smaller. */
    default Value ceil(Value x) {
        return unary(UnaryFn.CEIL, x);
    }

    /** Adds the nearest integer, halves to even. */
    default Value round(Value x) {
        return unary(UnaryFn.ROUND, x);
    }

    /** Adds the integer part. */
    default Value trunc(Value x) {
        return unary(UnaryFn.TRUNC, x);
    }
}
