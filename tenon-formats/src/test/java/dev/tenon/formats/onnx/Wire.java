package dev.tenon.formats.onnx;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;

/** Writes protobuf messages for tests, field by field: {@code new Wire().string(1, "x").message(7, m -> m…)}. */
final class Wire {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    byte[] bytes() {
        return out.toByteArray();
    }

    Wire number(int field, long value) {
        varint((long) field << 3);
        varint(value);
        return this;
    }

    Wire float32(int field, float value) {
        varint((long) field << 3 | 5);
        byte[] bytes = new byte[4];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putFloat(value);
        out.writeBytes(bytes);
        return this;
    }

    Wire bytes(int field, byte... value) {
        varint((long) field << 3 | 2);
        varint(value.length);
        out.writeBytes(value);
        return this;
    }

    Wire string(int field, String value) {
        return bytes(field, value.getBytes(StandardCharsets.UTF_8));
    }

    Wire message(int field, UnaryOperator<Wire> body) {
        return bytes(field, body.apply(new Wire()).bytes());
    }

    /** A model of operator set 17 with that graph. */
    static byte[] model(UnaryOperator<Wire> graph) {
        return model(graph, w -> w);
    }

    /** The same with more fields of the model. */
    static byte[] model(UnaryOperator<Wire> graph, UnaryOperator<Wire> more) {
        Wire model = new Wire().number(1, 8).message(8, o -> o.string(1, "").number(2, 17));
        return more.apply(model).message(7, graph).bytes();
    }

    /** An f32 graph input of that many elements. */
    Wire input(String name, long size) {
        return port(11, name, 1, size);
    }

    Wire output(String name, long size) {
        return output(name, size, 1);
    }

    /** @param type the code of its element type */
    Wire output(String name, long size, int type) {
        return port(12, name, type, size);
    }

    /** @param type the code of its element type */
    Wire inputOf(int type, String name, long... sizes) {
        return port(11, name, type, sizes);
    }

    /** @param dims sizes and names, such as {@code batch,3,5}; none for a scalar */
    Wire inputOf(int type, String name, String dims) {
        return port(11, name, type, s -> {
            for (String dim : dims.isEmpty() ? new String[0] : dims.split(",")) {
                s.message(1, d -> dim.matches("[0-9]+") ? d.number(1, Long.parseLong(dim)) : d.string(2, dim));
            }
            return s;
        });
    }

    private Wire port(int field, String name, int type, long... sizes) {
        return port(field, name, type, s -> {
            for (long size : sizes) {
                s.message(1, d -> d.number(1, size));
            }
            return s;
        });
    }

    private Wire port(int field, String name, int type, UnaryOperator<Wire> shape) {
        return message(
                field,
                v -> v.string(1, name)
                        .message(2, t -> t.message(1, x -> x.number(1, type).message(2, shape))));
    }

    /** A node; names separated by spaces, {@code -} for an input left out. */
    Wire node(String op, String name, String inputs, String outputs) {
        return node(op, name, inputs, outputs, n -> n);
    }

    Wire node(String op, String name, String inputs, String outputs, UnaryOperator<Wire> more) {
        return nodeAs(1, op, name, inputs, outputs, more);
    }

    /** A node as another field: 7 in a function. */
    Wire nodeAs(int field, String op, String name, String inputs, String outputs, UnaryOperator<Wire> more) {
        return message(field, n -> {
            for (String input : inputs.split(" ")) {
                n.string(1, input.equals("-") ? "" : input);
            }
            for (String output : outputs.split(" ")) {
                n.string(2, output);
            }
            return more.apply(n.string(3, name).string(4, op));
        });
    }

    private void varint(long value) {
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            out.write((int) ((rest & 0x7F) | 0x80));
            rest >>>= 7;
        }
        out.write((int) rest);
    }

    /** An attribute of a node: an integer. */
    static UnaryOperator<Wire> number(String name, long value) {
        return n -> n.message(5, a -> a.string(1, name).number(20, 2).number(3, value));
    }

    /** Adds an initializer to a graph. */
    static Wire tensor(Wire graph, String name, int type, byte[] raw, long... sizes) {
        return graph.message(5, t -> {
            for (long size : sizes) {
                t.number(1, size);
            }
            return t.number(2, type).string(8, name).bytes(9, raw);
        });
    }
}
