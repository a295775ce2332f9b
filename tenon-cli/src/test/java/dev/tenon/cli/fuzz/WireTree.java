package dev.tenon.cli.fuzz;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A protobuf message as a tree of fields, without its schema, that can be changed anywhere and written again. */
final class WireTree {
    private static final int DEPTH = 12;
    private static final long[] NUMBERS = {
        0,
        1,
        2,
        3,
        7,
        8,
        13,
        16,
        127,
        128,
        255,
        256,
        65535,
        65536,
        Integer.MAX_VALUE,
        1L << 31,
        1L << 32,
        1L << 40,
        1L << 61,
        1L << 62,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        -1,
        -2,
        -3,
        Integer.MIN_VALUE
    };

    /** One field: a number, fixed bytes, or bytes with a length that may be a message of their own. */
    private static final class Field {
        final int tag;
        long number;
        byte[] bytes = {};

        @Nullable
        WireTree message;

        Field(int tag) {
            this.tag = tag;
        }

        Field copy() {
            Field copy = new Field(tag);
            copy.number = number;
            copy.bytes = bytes;
            copy.message = message == null ? null : message.copy();
            return copy;
        }
    }

    private final List<Field> fields = new ArrayList<>();

    /** @return null where the bytes are no message */
    static @Nullable WireTree parse(byte[] bytes) {
        return parse(bytes, 0);
    }

    private static @Nullable WireTree parse(byte[] bytes, int depth) {
        WireTree tree = new WireTree();
        int[] at = {0};
        while (at[0] < bytes.length) {
            long tag = varint(bytes, at);
            if (tag <= 0 || tag > Integer.MAX_VALUE || tag >>> 3 == 0) {
                return null;
            }
            Field field = new Field((int) tag);
            switch ((int) tag & 7) {
                case 0 -> {
                    field.number = varint(bytes, at);
                    if (at[0] < 0) {
                        return null;
                    }
                }
                case 1, 5 -> {
                    int length = (tag & 7) == 1 ? 8 : 4;
                    if (at[0] + length > bytes.length) {
                        return null;
                    }
                    field.bytes = java.util.Arrays.copyOfRange(bytes, at[0], at[0] + length);
                    at[0] += length;
                }
                case 2 -> {
                    long length = varint(bytes, at);
                    if (at[0] < 0 || length < 0 || length > bytes.length - at[0]) {
                        return null;
                    }
                    field.bytes = java.util.Arrays.copyOfRange(bytes, at[0], at[0] + (int) length);
                    at[0] += (int) length;
                    field.message = depth < DEPTH && length > 1 ? parse(field.bytes, depth + 1) : null;
                }
                default -> {
                    return null;
                }
            }
            tree.fields.add(field);
        }
        return tree;
    }

    private static long varint(byte[] bytes, int[] at) {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (at[0] < 0 || at[0] >= bytes.length) {
                at[0] = -1;
                return -1;
            }
            byte next = bytes[at[0]++];
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        at[0] = -1;
        return -1;
    }

    WireTree copy() {
        WireTree copy = new WireTree();
        fields.forEach(field -> copy.fields.add(field.copy()));
        return copy;
    }

    byte[] bytes() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Field field : fields) {
            write(out, field.tag);
            switch (field.tag & 7) {
                case 0 -> write(out, field.number);
                case 2 -> {
                    byte[] content = field.message == null ? field.bytes : field.message.bytes();
                    write(out, content.length);
                    out.writeBytes(content);
                }
                default -> out.writeBytes(field.bytes);
            }
        }
        return out.toByteArray();
    }

    private static void write(ByteArrayOutputStream out, long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            out.write((int) (rest & 0x7f | 0x80));
            rest >>>= 7;
        }
        out.write((int) rest);
    }

    /** Changes one thing somewhere in the tree, now and then by a piece of another tree or another name. */
    void mutate(SplittableRandom random, WireTree other, List<String> words) {
        if (fields.isEmpty()) {
            return;
        }
        int at = random.nextInt(fields.size());
        Field field = fields.get(at);
        if (field.message != null && random.nextInt(5) > 0) {
            field.message.mutate(random, other, words);
            return;
        }
        switch (random.nextInt(8)) {
            case 0 -> fields.remove(at);
            case 1 -> fields.add(at, field.copy());
            case 2 -> fields.add(random.nextInt(fields.size()), fields.remove(at));
            case 3 -> {
                Field piece = other.piece(random);
                if (piece != null) {
                    fields.set(at, piece);
                }
            }
            default -> change(field, random, words);
        }
    }

    private static void change(Field field, SplittableRandom random, List<String> words) {
        switch (field.tag & 7) {
            case 0 ->
                field.number = random.nextInt(3) == 0
                        ? field.number + random.nextInt(-2, 3)
                        : NUMBERS[random.nextInt(NUMBERS.length)];
            case 2 -> {
                field.message = null;
                field.bytes = random.nextInt(3) == 0
                        ? words.get(random.nextInt(words.size())).getBytes(java.nio.charset.StandardCharsets.UTF_8)
                        : changed(field.bytes, random);
            }
            default -> field.bytes = changed(field.bytes, random);
        }
    }

    private static byte[] changed(byte[] bytes, SplittableRandom random) {
        if (bytes.length == 0 || random.nextInt(6) == 0) {
            return java.util.Arrays.copyOf(bytes, random.nextInt(2 * bytes.length + 9));
        }
        byte[] copy = bytes.clone();
        for (int i = random.nextInt(4); i >= 0; i--) {
            copy[random.nextInt(copy.length)] = (byte) (random.nextBoolean() ? random.nextInt(256) : random.nextInt(4));
        }
        return copy;
    }

    private @Nullable Field piece(SplittableRandom random) {
        if (fields.isEmpty()) {
            return null;
        }
        Field field = fields.get(random.nextInt(fields.size()));
        return field.message != null && random.nextInt(4) > 0 ? field.message.piece(random) : field.copy();
    }
}
