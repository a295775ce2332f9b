package dev.tenon.cli.cases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every integer attribute and every dim of the official node tests, replaced by numbers that overflow: each model still
 * runs, or ends as an exception of ours.
 */
final class HostileNumbersTest {
    private static final Path MODELS = Path.of("../tenon-formats/src/test/resources/onnx");

    private static final long[] NUMBERS = {
        -1, 0, Integer.MAX_VALUE, 1L << 31, 1L << 40, (1L << 62) + 1, Long.MAX_VALUE, Long.MIN_VALUE
    };

    /** Fields from the model down to numbers: attribute integers, and dims of inputs. */
    private static final List<List<Integer>> PATHS =
            List.of(List.of(7, 1, 5, 3), List.of(7, 1, 5, 8), List.of(7, 11, 2, 1, 2, 1, 1));

    /** Copies a message with the {@code wanted}th number along a path replaced. */
    private static final class Mutation {
        private final List<Integer> path;
        private final int wanted;
        private final long number;
        private int met;

        Mutation(List<Integer> path, int wanted, long number) {
            this.path = path;
            this.wanted = wanted;
            this.number = number;
        }

        byte[] of(byte[] message, int depth) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            int[] at = {0};
            while (at[0] < message.length) {
                long tag = varint(message, at);
                int field = (int) (tag >>> 3);
                boolean along = depth < path.size() && path.get(depth) == field;
                put(out, tag);
                switch ((int) (tag & 7)) {
                    case 0 -> {
                        long value = varint(message, at);
                        boolean here = along && depth == path.size() - 1 && met++ == wanted;
                        put(out, here ? number : value);
                    }
                    case 1 -> copy(out, message, at, 8);
                    case 5 -> copy(out, message, at, 4);
                    default -> {
                        int length = (int) varint(message, at);
                        byte[] inner = java.util.Arrays.copyOfRange(message, at[0], at[0] + length);
                        at[0] += length;
                        byte[] copied =
                                !along ? inner : depth == path.size() - 1 ? packed(inner) : of(inner, depth + 1);
                        put(out, copied.length);
                        out.writeBytes(copied);
                    }
                }
            }
            return out.toByteArray();
        }

        private byte[] packed(byte[] numbers) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            int[] at = {0};
            while (at[0] < numbers.length) {
                long value = varint(numbers, at);
                put(out, met++ == wanted ? number : value);
            }
            return out.toByteArray();
        }

        boolean isPast() {
            return met <= wanted;
        }

        private static void copy(ByteArrayOutputStream out, byte[] message, int[] at, int length) {
            out.write(message, at[0], length);
            at[0] += length;
        }

        private static long varint(byte[] message, int[] at) {
            long value = 0;
            for (int shift = 0; ; shift += 7) {
                byte next = message[at[0]++];
                value |= (long) (next & 0x7F) << shift;
                if (next >= 0) {
                    return value;
                }
            }
        }

        private static void put(ByteArrayOutputStream out, long value) {
            long rest = value;
            while ((rest & ~0x7FL) != 0) {
                out.write((int) (rest & 0x7F | 0x80));
                rest >>>= 7;
            }
            out.write((int) rest);
        }
    }

    private int ran;
    private int refused;
    private final Map<String, String> escaped = new TreeMap<>();

    @Test
    void overflowsAreExceptionsOfOurs() throws IOException {
        EngineOptions options = EngineOptions.defaults().withThreads(1).withMemoryLimit(1 << 26);
        try (Engine runtime = Engine.open(Target.cpu(), options);
                Stream<Path> folders = Files.list(MODELS).sorted()) {
            for (Path folder : folders.toList()) {
                byte[] model = Files.readAllBytes(folder.resolve("model.onnx"));
                for (List<Integer> path : PATHS) {
                    mutate(runtime, folder.getFileName().toString(), model, path);
                }
            }
        }
        System.out.println("hostile numbers: " + ran + " ran, " + refused + " refused");
        assertThat(escaped).isEmpty();
        assertThat(ran + refused).isGreaterThan(1000);
    }

    private void mutate(Engine runtime, String name, byte[] model, List<Integer> path) {
        for (int place = 0; place < 8; place++) {
            for (long number : NUMBERS) {
                Mutation mutation = new Mutation(path, place, number);
                byte[] changed = mutation.of(model, 0);
                if (mutation.isPast()) {
                    return;
                }
                run(runtime, name + " " + path + " " + place + " = " + number, changed);
            }
        }
    }

    private void run(Engine runtime, String what, byte[] bytes) {
        try {
            OnnxModel model = OnnxModel.parse("m", bytes);
            Map<String, Tensor> inputs = new LinkedHashMap<>();
            for (OnnxModel.Port port : model.inputs()) {
                inputs.put(port.name(), Tensor.zeros(small(port.type())));
            }
            try (CompiledModel compiled = runtime.compile(model.graph());
                    Session session = compiled.newSession()) {
                session.run(inputs);
            }
            ran++;
        } catch (TenonException e) {
            if (String.valueOf(e.getMessage()).contains("make no sense")) {
                escaped.put(what, String.valueOf(e.getMessage())); // the importer's net for what nobody checked
            }
            refused++;
        } catch (RuntimeException | Error e) {
            StackTraceElement[] trace = e.getStackTrace();
            escaped.put(what, e + (trace.length == 0 ? "" : " at " + trace[0]));
        }
    }

    /** A huge input is not given as one: a plan for it is made all the same by models whose other dims fit. */
    private static TensorType small(TensorType type) {
        if (!type.shape().isRanked()) {
            return new TensorType(type.dtype(), Shape.scalar());
        }
        List<Dim> dims = new ArrayList<>();
        for (Dim dim : type.shape().dims()) {
            dims.add(dim.isFixed() && dim.size() < 4096 ? dim : Dim.of(1));
        }
        return new TensorType(type.dtype(), Shape.of(dims));
    }
}
