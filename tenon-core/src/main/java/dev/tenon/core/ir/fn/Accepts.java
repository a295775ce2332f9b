package dev.tenon.core.ir.fn;

import dev.tenon.core.ir.DType;

/** The element types that a function takes. */
public enum Accepts {
    FLOAT("a float type"),
    NUMBER("a number type"),
    INTEGER("an integer type"),
    BOOL("bool"),
    ANY("any type");

    private final String words;

    Accepts(String words) {
        this.words = words;
    }

    /** Returns whether elements of the type are taken. */
    public boolean test(DType dtype) {
        return switch (this) {
            case FLOAT -> dtype.isFloat();
            case NUMBER -> dtype.isNumeric();
            case INTEGER -> dtype.isInteger();
            case BOOL -> dtype == DType.BOOL;
            case ANY -> true;
        };
    }

    /** Returns what messages call the types: {@code a float type}. */
    public String words() {
        return words;
    }
}
