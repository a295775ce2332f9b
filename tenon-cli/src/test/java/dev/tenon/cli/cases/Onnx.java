package dev.tenon.cli.cases;

import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The table's model files, and small models written here: protobuf, field by field. */
final class Onnx {
    static final int FLOAT = 1;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    static Path file(String name) {
        return Path.of("../tenon-formats/src/test/resources/cases", name + ".onnx");
    }

    /** The only output of one of the table's files, for its only input. */
    static Tensor run(String name, Tensor x) {
        OnnxModel model = OnnxModel.load(file(name));
        return Cpu.only(model.graph(), Map.of(model.inputs().getFirst().name(), x));
    }

    static byte[] model(long opset, UnaryOperator<Onnx> graph) {
        return new Onnx()
                .number(1, 8)
                .message(7, graph)
                .message(8, o -> o.string(1, "").number(2, opset))
                .bytes();
    }

    Onnx input(String name, int type, long... sizes) {
        return port(11, name, type, sizes);
    }

    /** An output of any shape. */
    Onnx output(String name, int type) {
        return message(12, v -> v.string(1, name).message(2, t -> t.message(1, x -> x.number(1, type))));
    }

    private Onnx port(int field, String name, int type, long... sizes) {
        return message(
                field,
                v -> v.string(1, name)
                        .message(
                                2,
                                t -> t.message(
                                        1,
                                        x -> x.number(1, type).message(2, shape -> {
                                            for (long size : sizes) {
                                                shape.message(1, dim -> dim.number(1, size));
                                            }
                                            return shape;
                                        }))));
    }

    /** A node; names separated by spaces. */
    Onnx node(String op, String inputs, String outputs, UnaryOperator<Onnx> attributes) {
        return message(1, node -> {
            for (String input : inputs.split(" ")) {
                node.string(1, input);
            }
            for (String output : outputs.split(" ")) {
                node.string(2, output);
            }
            return attributes.apply(node.string(4, op));
        });
    }

    Onnx text(String attribute, String value) {
        return message(5, a -> a.string(1, attribute).string(4, value).number(20, 3));
    }

    Onnx integer(String attribute, long value) {
        return message(5, a -> a.string(1, attribute).number(3, value).number(20, 2));
    }

    Onnx integers(String attribute, long... values) {
        return message(5, a -> {
            a.string(1, attribute);
            for (long value : values) {
                a.number(8, value);
            }
            return a.number(20, 7);
        });
    }

    private Onnx number(int field, long value) {
        varint((long) field << 3);
        varint(value);
        return this;
    }

    private Onnx string(int field, String value) {
        return bytes(field, value.getBytes(StandardCharsets.UTF_8));
    }

    private Onnx message(int field, UnaryOperator<Onnx> body) {
        return bytes(field, body.apply(new Onnx()).bytes());
    }

    private Onnx bytes(int field, byte[] value) {
        varint((long) field << 3 | 2);
        varint(value.length);
        out.writeBytes(value);
        return this;
    }

    private byte[] bytes() {
        return out.toByteArray();
    }

    private void varint(long value) {
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            out.write((int) ((rest & 0x7F) | 0x80));
            rest >>>= 7;
        }
        out.write((int) rest);
    }
}
