package dev.tenon.core.build;

import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;

/**
 * Adds comparisons and logic, element by element. Results of comparisons are booleans; operands broadcast as in numpy.
 */
public interface LogicOps extends OpBuilder {
    /** Adds a comparison. Every one but {@code NE} is false where an operand is NaN. */
    default Value compare(CompareFn fn, Value a, Value b) {
        Words.option("compare", "fn", fn);
        return add(new Compare(fn), Words.operands("compare", "a b", a, b));
    }

    /** Adds {@code a == b}. */
    default Value equal(Value a, Value b) {
        return compare(CompareFn.EQ, a, b);
    }

    /** Adds {@code a != b}. */
    default Value notEqual(Value a, Value b) {
        return compare(CompareFn.NE, a, b);
    }

    /** Adds {@code a < b}. */
    default Value less(Value a, Value b) {
        return compare(CompareFn.LT, a, b);
    }

    /** Adds {@code a <= b}. */
    default Value lessEqual(Value a, Value b) {
        return compare(CompareFn.LE, a, b);
    }

    /** Adds {@code a > b}. */
    default Value greater(Value a, Value b) {
        return compare(CompareFn.GT, a, b);
    }

    /** Adds {@code a >= b}. */
    default Value greaterEqual(Value a, Value b) {
        return compare(CompareFn.GE, a, b);
    }

    /** Adds the conjunction of two booleans. */
    default Value and(Value a, Value b) {
        return add(new Binary(BinaryFn.AND), Words.operands("and", "a b", a, b));
    }

    /** Adds the disjunction of two booleans. */
    default Value or(Value a, Value b) {
        return add(new Binary(BinaryFn.OR), Words.operands("or", "a b", a, b));
    }

    /** Adds the exclusive disjunction of two booleans. */
    default Value xor(Value a, Value b) {
        return add(new Binary(BinaryFn.XOR), Words.operands("xor", "a b", a, b));
    }

    /** Adds the negation of a boolean. */
    default Value not(Value x) {
        return add(new Unary(UnaryFn.NOT, 0, 0), Words.operand("not", "x", x));
    }

    /** Adds whether x is NaN. */
    default Value isNan(Value x) {
        return add(new Unary(UnaryFn.IS_NAN, 0, 0), Words.operand("is_nan", "x", x));
    }

    /** Adds whether x is an infinity of either sign. */
    default Value isInf(Value x) {
        return add(new Unary(UnaryFn.IS_INF, 1, 1), Words.operand("is_inf", "x", x));
    }

    /**
     * Adds a choice: a where the condition holds, else b. All three broadcast.
     *
     * @param condition of booleans
     */
    default Value where(Value condition, Value a, Value b) {
        return add(new Where(), Words.operands("where", "condition a b", condition, a, b));
    }
}
