package dev.tenon.formats.json;

import dev.tenon.core.error.ImportException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A strict RFC 8259 reader over UTF-8 bytes, by which the large vocabulary is streamed and the rest becomes a tree.
 *
 * <p>It is our own because start-up counts: on a cold JVM the general library takes some 60 ms to load its classes, and
 * reading MiniLM's file with it 100 to 120 ms; this takes about a quarter. Every error has the byte offset.
 *
 * <p>In a tree an object is a {@link JsonObject}, an array a {@code List<Object>}, a number a {@code Long} or
 * {@code Double}, and null {@link Null#NULL}.
 */
public final class JsonReader {
    /** The JSON null inside a tree. */
    public enum Null {
        NULL;

        @Override
        public String toString() {
            return "null";
        }
    }

    private static final int MAX_DEPTH = 64;

    private final byte[] bytes;
    private int at;
    private int depth;

    /** Reads {@code bytes}, which are not copied. */
    public JsonReader(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Returns an error that names where the reader is. */
    public ImportException error(String message) {
        return new ImportException("byte " + at + ": " + message);
    }

    /** Where the reader is, in bytes. */
    public int offset() {
        return at;
    }

    /** The next byte that is not blank, without taking it; -1 at the end. */
    public int peek() {
        while (at < bytes.length) {
            byte b = bytes[at];
            if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
                return b & 0xFF;
            }
            at++;
        }
        return -1;
    }

    private boolean take(char expected) {
        if (peek() != expected) {
            return false;
        }
        at++;
        return true;
    }

    private void expect(char expected) {
        if (!take(expected)) {
            throw unexpected("'" + expected + "'");
        }
    }

    private ImportException unexpected(String wanted) {
        int b = peek();
        String found = b < 0 ? "the file ends" : b > ' ' && b < 0x7F ? "found '" + (char) b + "'" : "found byte " + b;
        return error("expected " + wanted + ", but " + found);
    }

    /** Enters the object that comes next. */
    public void beginObject() {
        expect('{');
        if (++depth > MAX_DEPTH) {
            throw error("nested deeper than " + MAX_DEPTH);
        }
    }

    /** The next key of the object entered last, or null when it ends; {@code first} for the first. */
    public @Nullable String nextKey(boolean first) {
        if (take('}')) {
            depth--;
            return null;
        }
        if (!first) {
            expect(',');
        }
        String key = readString();
        expect(':');
        return key;
    }

    /** Throws unless only blanks are left. */
    public void end() {
        if (peek() >= 0) {
            throw unexpected("the end of the file");
        }
    }

    /**
     * Reads a value as a tree; {@code path} is what error messages call it.
     *
     * <p>Paths are put together by {@code concat}: the first use of the {@code +} operator in a JVM costs 10 ms.
     */
    public Object readValue(String path) {
        return switch (peek()) {
            case '{' -> readObject(path);
            case '[' -> readArray(path);
            case '"' -> readString();
            case 't' -> literal("true", true);
            case 'f' -> literal("false", false);
            case 'n' -> literal("null", Null.NULL);
            default -> readNumber();
        };
    }

    private JsonObject readObject(String path) {
        int start = at;
        Map<String, Object> fields = new LinkedHashMap<>();
        beginObject();
        String key = nextKey(true);
        for (; key != null; key = nextKey(false)) {
            if (fields.put(key, readValue(path.concat(".").concat(key))) != null) {
                throw error("the key '" + key + "' is there twice");
            }
        }
        return new JsonObject(path, start, fields);
    }

    private List<Object> readArray(String path) {
        expect('[');
        if (++depth > MAX_DEPTH) {
            throw error("nested deeper than " + MAX_DEPTH);
        }
        List<Object> values = new ArrayList<>();
        while (!take(']')) {
            if (!values.isEmpty()) {
                expect(',');
            }
            values.add(readValue(
                    path.concat("[").concat(Integer.toString(values.size())).concat("]")));
        }
        depth--;
        return values;
    }

    private Object literal(String text, Object value) {
        for (int i = 0; i < text.length(); i++) {
            if (at + i >= bytes.length || bytes[at + i] != text.charAt(i)) {
                throw unexpected("a value");
            }
        }
        at += text.length();
        return value;
    }

    /** Reads an integer of 0 to 2³¹ − 1; {@code what} and {@code of} name it in the error. */
    public int readId(String what, String of) {
        int start = at;
        long value = 0;
        peek();
        int digits = at;
        while (at < bytes.length && bytes[at] >= '0' && bytes[at] <= '9' && value <= Integer.MAX_VALUE) {
            value = value * 10 + bytes[at++] - '0';
        }
        boolean leadingZero = at - digits > 1 && bytes[digits] == '0';
        if (at == digits
                || leadingZero
                || value > Integer.MAX_VALUE
                || (at < bytes.length && isNumberPart(bytes[at]))) {
            at = start;
            throw error(what + " of '" + of + "' must be an integer of 0.." + Integer.MAX_VALUE);
        }
        return (int) value;
    }

    private static boolean isNumberPart(byte b) {
        return (b >= '0' && b <= '9') || b == '.' || b == 'e' || b == 'E' || b == '-' || b == '+';
    }

    private Object readNumber() {
        int start = at;
        boolean integer = true;
        if (at < bytes.length && bytes[at] == '-') {
            at++;
        }
        if (at < bytes.length && bytes[at] == '0') {
            at++;
        } else {
            digits(start);
        }
        if (at < bytes.length && bytes[at] == '.') {
            integer = false;
            at++;
            digits(start);
        }
        if (at < bytes.length && (bytes[at] == 'e' || bytes[at] == 'E')) {
            integer = false;
            at++;
            if (at < bytes.length && (bytes[at] == '+' || bytes[at] == '-')) {
                at++;
            }
            digits(start);
        }
        String text = new String(bytes, start, at - start, StandardCharsets.ISO_8859_1);
        if (integer && text.length() < 19) {
            return Long.valueOf(text);
        }
        return Double.valueOf(text);
    }

    private void digits(int start) {
        int from = at;
        while (at < bytes.length && bytes[at] >= '0' && bytes[at] <= '9') {
            at++;
        }
        if (at == from) {
            at = start;
            throw unexpected("a value");
        }
    }

    /** Reads a string, unescaped. */
    public String readString() {
        expect('"');
        // locals: this loop takes most of a cold start, when it is still interpreted
        byte[] in = bytes;
        int start = at;
        int or = 0;
        for (int i = start; i < in.length; i++) {
            int b = in[i];
            if (b == '"') {
                at = i + 1;
                return decode(start, i, or < 0);
            }
            if (b == '\\') {
                at = i;
                return readEscaped(start, or < 0);
            }
            if (b >= 0 && b < ' ') {
                at = i;
                throw error("a string may not hold byte " + b + " unescaped");
            }
            or |= b;
        }
        at = start - 1;
        throw error("the string that starts here does not end");
    }

    private String decode(int start, int end, boolean multiByte) {
        if (!multiByte) {
            return new String(bytes, start, end - start, StandardCharsets.ISO_8859_1);
        }
        String text = new String(bytes, start, end - start, StandardCharsets.UTF_8);
        // the JDK puts U+FFFD for what is no UTF-8; where it did, the way back gives other bytes
        if (text.indexOf('\uFFFD') >= 0) {
            byte[] back = text.getBytes(StandardCharsets.UTF_8);
            int differs = java.util.Arrays.mismatch(back, 0, back.length, bytes, start, end);
            if (differs >= 0) {
                at = start + differs;
                throw error("this is not UTF-8");
            }
        }
        return text;
    }

    /** Goes on at the first backslash of a string that started at {@code start}. */
    private String readEscaped(int start, boolean multiByteSoFar) {
        StringBuilder out = new StringBuilder(decode(start, at, multiByteSoFar));
        int plain = at;
        while (at < bytes.length) {
            byte b = bytes[at];
            if (b == '"') {
                out.append(decode(plain, at, true));
                at++;
                return out.toString();
            }
            if (b == '\\') {
                out.append(decode(plain, at, true));
                escape(out);
                plain = at;
            } else if (b >= 0 && b < ' ') {
                throw error("a string may not hold byte " + b + " unescaped");
            } else {
                at++;
            }
        }
        at = start - 1;
        throw error("the string that starts here does not end");
    }

    private void escape(StringBuilder out) {
        at++;
        int b = at < bytes.length ? bytes[at++] : -1;
        switch (b) {
            case '"', '\\', '/' -> out.append((char) b);
            case 'b' -> out.append('\b');
            case 'f' -> out.append('\f');
            case 'n' -> out.append('\n');
            case 'r' -> out.append('\r');
            case 't' -> out.append('\t');
            case 'u' -> unicode(out);
            default -> throw error("this is no escape of a string");
        }
    }

    private void unicode(StringBuilder out) {
        char first = hex();
        out.append(first);
        if (!Character.isSurrogate(first)) {
            return;
        }
        if (Character.isHighSurrogate(first) && at + 1 < bytes.length && bytes[at] == '\\' && bytes[at + 1] == 'u') {
            at += 2;
            char second = hex();
            if (Character.isLowSurrogate(second)) {
                out.append(second);
                return;
            }
        }
        throw error("half of a surrogate pair");
    }

    private char hex() {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            int digit = at < bytes.length ? Character.digit((char) bytes[at], 16) : -1;
            if (digit < 0) {
                throw error("\\u needs four hexadecimal digits");
            }
            value = value << 4 | digit;
            at++;
        }
        return (char) value;
    }
}
