package dev.tenon.core.ir;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.error.Require;
import java.util.Locale;

/** Element types. Every value has its own; there is no default one. */
public enum DType {
    F64(64, Kind.FLOAT),
    F32(32, Kind.FLOAT),
    F16(16, Kind.FLOAT),
    BF16(16, Kind.FLOAT),
    F8E4M3(8, Kind.FLOAT),
    F8E5M2(8, Kind.FLOAT),
    I64(64, Kind.SIGNED),
    I32(32, Kind.SIGNED),
    I16(16, Kind.SIGNED),
    I8(8, Kind.SIGNED),
    I4(4, Kind.SIGNED),
    U64(64, Kind.UNSIGNED),
    U32(32, Kind.UNSIGNED),
    U16(16, Kind.UNSIGNED),
    U8(8, Kind.UNSIGNED),
    U4(4, Kind.UNSIGNED),
    BOOL(8, Kind.BOOL);

    private enum Kind {
        FLOAT,
        SIGNED,
        UNSIGNED,
        BOOL
    }

    private final int bits;
    private final Kind kind;
    private final String text = name().toLowerCase(Locale.ROOT);

    DType(int bits, Kind kind) {
        this.bits = bits;
        this.kind = kind;
    }

    /** Bits an element takes in memory: 4 for the packed types, 8 for {@link #BOOL}. */
    public int bits() {
        return bits;
    }

    /**
     * Whole bytes an element takes.
     *
     * @throws DTypeException for a packed type, whose elements have no byte of their own
     */
    public int bytes() {
        if (bits < 8) {
            throw new DTypeException(text + " is packed: its elements have no bytes of their own");
        }
        return bits / 8;
    }

    /** Bytes that {@code count} elements take, packed types rounded up. @throws OutOfMemoryException past 2^63 */
    public long bytesFor(long count) {
        long whole = bits < 8 ? Math.ceilDiv(count, 8 / bits) : count;
        long each = Math.max(1, bits / 8);
        if (whole > Long.MAX_VALUE / each) {
            throw new OutOfMemoryException(
                    count + " elements of " + text + " take more than 2^63 bytes; expected fewer elements");
        }
        return whole * each;
    }

    public boolean isFloat() {
        return kind == Kind.FLOAT;
    }

    /** Signed and unsigned integers; not {@link #BOOL}. */
    public boolean isInteger() {
        return kind == Kind.SIGNED || kind == Kind.UNSIGNED;
    }

    public boolean isUnsigned() {
        return kind == Kind.UNSIGNED;
    }

    public boolean isNumeric() {
        return kind != Kind.BOOL;
    }

    /** The type that sums are kept in: f32 for the short floats, f64 for f64, the type itself for integers. */
    public DType accumulator() {
        return switch (this) {
            case F16, BF16, F8E4M3, F8E5M2 -> F32;
            default -> this;
        };
    }

    /** The lower-case name, as the text form and the error messages have it: {@code f32}. */
    @Override
    public String toString() {
        return text;
    }

    /** The type of that lower-case name. @throws DTypeException naming the known ones */
    public static DType parse(String name) {
        Require.nonNull(name, "name");
        for (DType type : values()) {
            if (type.text.equals(name)) {
                return type;
            }
        }
        throw new DTypeException("no element type \"" + name + "\"; known: " + java.util.Arrays.toString(values()));
    }
}
