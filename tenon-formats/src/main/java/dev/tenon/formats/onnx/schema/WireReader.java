package dev.tenon.formats.onnx.schema;

import dev.tenon.core.error.ImportException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Walks the fields of one protobuf message: {@code while (in.next()) switch (in.field()) …}. Every length is checked
 * against the message that holds it before anything is allocated, and messages nest at most {@value #MAX_DEPTH} deep.
 *
 * <p>Bytes are answered as slices of the source, never copied. Not thread-safe.
 */
public final class WireReader {
    /** As deep as protobuf's own readers go. */
    static final int MAX_DEPTH = 100;

    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int LENGTH = 2;
    private static final int FIXED32 = 5;

    private final String source;
    private final MemorySegment segment;
    private final ByteBuffer buffer;
    private final int end;
    private final int depth;
    private int position;
    private int field;
    private int wireType;

    private WireReader(String source, MemorySegment segment, ByteBuffer buffer, int start, int end, int depth) {
        this.source = source;
        this.segment = segment;
        this.buffer = buffer;
        this.position = start;
        this.end = end;
        this.depth = depth;
    }

    /**
     * A reader of the whole segment.
     *
     * @param source names the file in messages
     */
    public static WireReader of(String source, MemorySegment segment) {
        if (segment.byteSize() > Integer.MAX_VALUE) {
            throw new ImportException(
                    source + ": " + segment.byteSize()
                            + " bytes; an ONNX file holds less than 2 GiB (larger models keep their weights in external files)");
        }
        ByteBuffer buffer = segment.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        return new WireReader(source, segment, buffer, 0, (int) segment.byteSize(), 0);
    }

    /** Goes to the next field; false at the end of the message. */
    boolean next() {
        if (position >= end) {
            return false;
        }
        long tag = varint();
        field = (int) (tag >>> 3);
        wireType = (int) tag & 7;
        if (tag >>> 32 != 0 || field == 0) {
            throw error("no field has the tag " + tag);
        }
        return true;
    }

    int field() {
        return field;
    }

    boolean hasMore() {
        return position < end;
    }

    /** How many bytes are left in this message. */
    public int remaining() {
        return end - position;
    }

    long int64() {
        expect(VARINT);
        return varint();
    }

    int int32() {
        return (int) int64();
    }

    float float32() {
        expect(FIXED32);
        return Float.intBitsToFloat(fixed32());
    }

    String string() {
        expect(LENGTH);
        int length = length();
        if (length == 0) {
            return "";
        }
        byte[] bytes = new byte[length];
        buffer.get(position, bytes);
        position += length;
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** The field's bytes, where they lie. */
    MemorySegment bytes() {
        expect(LENGTH);
        int length = length();
        MemorySegment slice = segment.asSlice(position, length);
        position += length;
        return slice;
    }

    /** A reader of the message that the field holds. */
    WireReader message() {
        expect(LENGTH);
        if (depth >= MAX_DEPTH) {
            throw error("messages nest more than " + MAX_DEPTH + " deep");
        }
        return slice(length(), depth + 1);
    }

    /** A reader of a repeated number field: of all elements where they are packed, else of this one. */
    WireReader numbers() {
        int length = switch (wireType) {
            case LENGTH -> length();
            case FIXED32 -> 4;
            case FIXED64 -> 8;
            default -> varintLength();
        };
        return slice(length, depth);
    }

    /** The varints of a repeated field, packed or not, added to a list. */
    void int64s(List<Long> into) {
        WireReader numbers = numbers();
        while (numbers.hasMore()) {
            into.add(numbers.varint());
        }
    }

    /** The floats of a repeated field, packed or not, added to a list. */
    void floats(List<Float> into) {
        WireReader numbers = numbers();
        while (numbers.hasMore()) {
            into.add(Float.intBitsToFloat(numbers.fixed32()));
        }
    }

    /** What is left of this message, where it lies. */
    public MemorySegment rest() {
        return segment.asSlice(position, (long) end - position);
    }

    /** A reader of the same bytes from here on, so that a message can be read more than once. */
    public WireReader again() {
        return new WireReader(source, segment, buffer, position, end, depth);
    }

    /** The varints from here to the end, for packed numbers. */
    public long nextVarint() {
        return varint();
    }

    /** Whether another packed number follows. */
    public boolean hasNumbers() {
        return hasMore();
    }

    /** How many varints lie between here and the end: the bytes without a continuation bit. */
    public long countVarints() {
        long count = 0;
        for (int i = position; i < end; i++) {
            count += buffer.get(i) >= 0 ? 1 : 0;
        }
        return count;
    }

    void skip() {
        switch (wireType) {
            case VARINT -> varint();
            case FIXED64 -> advance(8);
            case LENGTH -> advance(length());
            case FIXED32 -> advance(4);
            default -> throw error("field " + field + " has the wire type " + wireType + ", which ONNX does not use");
        }
    }

    <T> void addTo(List<T> list, java.util.function.Function<WireReader, T> read) {
        list.add(read.apply(message()));
    }

    static <T> List<T> list() {
        return new ArrayList<>();
    }

    ImportException error(String what) {
        return new ImportException(source + ": " + what + " (offset " + position + ")");
    }

    private WireReader slice(int length, int newDepth) {
        int start = position;
        advance(length);
        return new WireReader(source, segment, buffer, start, position, newDepth);
    }

    private void expect(int wanted) {
        if (wireType != wanted) {
            throw error("field " + field + " has wire type " + wireType + " instead of " + wanted);
        }
    }

    private int length() {
        long length = varint();
        if (length < 0 || length > end - position) {
            throw error("field " + field + " claims " + Long.toUnsignedString(length) + " bytes, " + (end - position)
                    + " are left");
        }
        return (int) length;
    }

    private void advance(int count) {
        if (count > end - position) {
            throw error("truncated: " + count + " bytes wanted, " + (end - position) + " are left");
        }
        position += count;
    }

    private int fixed32() {
        int at = position;
        advance(4);
        return buffer.getInt(at);
    }

    private int varintLength() {
        int start = position;
        varint();
        int length = position - start;
        position = start;
        return length;
    }

    private long varint() {
        long value = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            if (position >= end) {
                throw error("truncated inside a number");
            }
            byte next = buffer.get(position++);
            value |= (long) (next & 0x7F) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw error("a number of more than 10 bytes");
    }
}
