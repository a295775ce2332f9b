package dev.tenon.core.ir;

import dev.tenon.core.error.ShapeException;

/** How many inputs an operation takes, both ends included. */
public record Arity(int min, int max) {
    public static Arity exactly(int count) {
        return new Arity(count, count);
    }

    public static Arity atLeast(int count) {
        return new Arity(count, Integer.MAX_VALUE);
    }

    void check(String op, int count) {
        if (count < min || count > max) {
            String wanted = min == max
                    ? Integer.toString(min)
                    : max == Integer.MAX_VALUE ? "at least " + min : min + " to " + max;
            throw new ShapeException(op + ": takes " + wanted + " input(s), has " + count);
        }
    }
}
