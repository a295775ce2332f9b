package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Names out of files are data wherever they are shown: no terminal takes an order from one, and none fakes a line or
 * fills a log.
 */
final class HostileTextTest {
    private static final String EVIL = "\u001b[31mEvil\u001b]0;pwn\u0007\nFAKE LOG LINE: ok\u202e";
    private static final String LONG = "n".repeat(1_000_000);

    /** What a model says in its files, each of which one test replaces. */
    private enum Place {
        PRODUCER,
        GRAPH,
        NODE,
        OPERATOR,
        DOMAIN,
        ATTRIBUTE,
        INPUT,
        OUTPUT,
        VALUE,
        INITIALIZER,
        DIM,
        LOCATION
    }

    @TempDir
    private Path folder;

    static Stream<Arguments> commands() {
        List<Arguments> all = new ArrayList<>();
        for (Place place : Place.values()) {
            for (boolean isLong : new boolean[] {false, true}) {
                all.add(Arguments.of(place, isLong));
            }
        }
        return all.stream();
    }

    @ParameterizedTest(name = "{0}, long: {1}")
    @MethodSource("commands")
    void namesAreShownEscapedAndCut(Place place, boolean isLong) throws IOException {
        String name = isLong ? LONG : EVIL;
        Path model = folder.resolve("model.onnx");
        Files.write(model, model(place, name));
        Path page = folder.resolve("page.html");
        for (List<String> command : List.of(
                List.of("run", model.toString()),
                List.of("run", model.toString(), "--json"),
                List.of(
                        "run",
                        model.toString(),
                        "--output-dir",
                        folder.resolve("out").toString()),
                List.of("explain", model.toString()),
                List.of("explain", model.toString(), "--json"),
                List.of("explain", model.toString(), "--html", page.toString()))) {
            Cli result = Cli.run(command.toArray(String[]::new));
            shown(command + " out", result.out());
            shown(command + " err", result.err());
            assertThat(result.err()).as("%s", command).doesNotContain("unexpected");
        }
        if (Files.exists(page)) {
            shown("page", Files.readString(page));
        }
        if (Files.isDirectory(folder.resolve("out"))) {
            try (Stream<Path> files = Files.list(folder.resolve("out"))) {
                assertThat(files).allMatch(file -> file.getFileName().toString().matches("[A-Za-z0-9._-]{1,120}"));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"type", "token", "key", "number"})
    void tokenizerFilesAreDataToo(String what) throws IOException {
        Path model = folder.resolve("model.onnx");
        Files.write(model, model(Place.PRODUCER, "p"));
        for (String text : List.of("\\u001b[31mEvil\\nFAKE", LONG)) {
            String json = switch (what) {
                case "type" -> "{\"model\":{\"type\":\"" + text + "\",\"vocab\":{}}}";
                case "token" ->
                    "{\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"" + text + "\",\"vocab\":{\"a\":0}}}";
                case "key" ->
                    "{\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"a\",\"vocab\":{\"" + text
                            + "\":\"no number\"}}}";
                default -> "{\"model\":" + text;
            };
            Files.writeString(folder.resolve("tokenizer.json"), json);
            Cli result = Cli.run("embed", "--model", model.toString(), "a text");
            assertThat(result.code()).isNotZero();
            shown(what, result.err());
        }
    }

    private static void shown(String what, String text) {
        assertThat(Pattern.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f\\x80-\\x9f\\u202a-\\u202e]")
                        .matcher(text)
                        .find())
                .as("control characters in %s", what)
                .isFalse();
        assertThat(text.lines()).as(what).noneMatch(line -> line.startsWith("FAKE LOG LINE"));
        assertThat(Pattern.compile("n{250}").matcher(text).find())
                .as("the whole name in %s", what)
                .isFalse();
    }

    /** y = x + w, with that name in that place. */
    private static byte[] model(Place place, String name) {
        UnaryOperator<Wire> initializer = w -> {
            Wire tensor = new Wire().number(1, 2).number(2, 1).string(8, or(place, Place.INITIALIZER, name, "w"));
            if (place == Place.LOCATION) {
                return tensor.message(13, e -> e.string(1, "location").string(2, name))
                        .number(14, 1);
            }
            return tensor.bytes(9, new byte[] {0, 0, (byte) 0x80, 0x3f, 0, 0, 0, 0x40});
        };
        String x = or(place, Place.INPUT, name, "x");
        String y = or(place, Place.OUTPUT, name, "y");
        String middle = or(place, Place.VALUE, name, "m");
        UnaryOperator<Wire> node = n -> {
            Wire made = n.string(1, x)
                    .string(1, or(place, Place.INITIALIZER, name, "w"))
                    .string(2, middle)
                    .string(3, or(place, Place.NODE, name, "node"))
                    .string(4, or(place, Place.OPERATOR, name, "Add"))
                    .string(7, or(place, Place.DOMAIN, name, ""));
            return place == Place.ATTRIBUTE
                    ? made.message(5, a -> a.string(1, name).number(20, 2).number(3, 1))
                    : made;
        };
        return new Wire()
                .number(1, 8)
                .string(2, or(place, Place.PRODUCER, name, "test"))
                .message(8, o -> o.string(1, "").number(2, 17))
                .message(
                        7,
                        g -> g.message(1, node)
                                .message(
                                        1, n -> n.string(1, middle).string(2, y).string(4, "Relu"))
                                .string(2, or(place, Place.GRAPH, name, "g"))
                                .message(5, initializer)
                                .message(11, v -> port(v, x, place == Place.DIM ? name : "", 2))
                                .message(12, v -> port(v, y, place == Place.DIM ? name : "", 2)))
                .bytes();
    }

    private static Wire port(Wire port, String name, String dim, long size) {
        return port.string(1, name)
                .message(
                        2,
                        t -> t.message(
                                1,
                                f -> f.number(1, 1)
                                        .message(
                                                2,
                                                s -> s.message(
                                                        1,
                                                        d -> dim.isEmpty() ? d.number(1, size) : d.string(2, dim)))));
    }

    private static String or(Place place, Place wanted, String name, String usual) {
        return place == wanted ? name : usual;
    }

    /** Writes protobuf messages field by field. */
    private static final class Wire {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        byte[] bytes() {
            return out.toByteArray();
        }

        Wire number(int field, long value) {
            varint((long) field << 3);
            varint(value);
            return this;
        }

        Wire bytes(int field, byte[] value) {
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

        private void varint(long value) {
            long rest = value;
            while ((rest & ~0x7fL) != 0) {
                out.write((int) (rest & 0x7f | 0x80));
                rest >>>= 7;
            }
            out.write((int) rest);
        }
    }
}
