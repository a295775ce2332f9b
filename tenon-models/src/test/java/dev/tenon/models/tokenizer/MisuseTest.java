package dev.tenon.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.InputException;
import dev.tenon.core.testkit.NullArguments;
import dev.tenon.core.testkit.PublicApi;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.lang.reflect.Parameter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class MisuseTest {
    private static final Padding PADDING = new Padding(0, 1, Direction.RIGHT, 0, 0, "[PAD]");

    private static final class Samples implements NullArguments.Samples {
        private final Map<Class<?>, Object> known = Map.ofEntries(
                Map.entry(String.class, "a"),
                Map.entry(int.class, 8),
                Map.entry(int[].class, new int[] {4}),
                Map.entry(boolean.class, true),
                Map.entry(byte[].class, new byte[1]),
                Map.entry(List.class, List.of()),
                Map.entry(Path.class, Path.of("tokenizer.json")),
                Map.entry(InputStream.class, new ByteArrayInputStream(new byte[1])),
                Map.entry(Truncation.class, Truncation.to(8)),
                Map.entry(Truncation.Strategy.class, Truncation.Strategy.LONGEST_FIRST),
                Map.entry(Direction.class, Direction.RIGHT),
                Map.entry(Padding.class, PADDING));

        @Override
        public Object of(Parameter parameter) {
            return Objects.requireNonNull(known.get(parameter.getType()), parameter.toString());
        }

        @Override
        public Object receiver(Class<?> type) {
            return type == WordPieceTokenizer.class ? new SmallFile().load() : known.get(type);
        }
    }

    @TestFactory
    Stream<DynamicTest> nullArgumentIsNamed() throws Exception {
        List<Class<?>> api = new ArrayList<>(PublicApi.classesBeside(Tokenizer.class));
        api.add(WordPieceTokenizer.class); // what a tokenizer is
        return NullArguments.tests(api, Samples::new);
    }

    @Test
    void nullAmongTextsIsNamed() {
        assertThatThrownBy(() -> new SmallFile().load().encodeBatch(Arrays.asList("a", null)))
                .isInstanceOf(InputException.class)
                .hasMessage("argument \"texts\" holds null at 1; expected a value");
    }

    @Test
    void negativeNumbersAreNamed() {
        assertThatThrownBy(() -> new Padding(0, 1, Direction.RIGHT, -1, 0, ""))
                .isInstanceOf(InputException.class)
                .hasMessage("argument \"id\" is -1; expected 0 or more");
        assertThatThrownBy(() -> new Padding(0, 1, Direction.RIGHT, 0, -2, ""))
                .isInstanceOf(InputException.class)
                .hasMessage("argument \"typeId\" is -2; expected 0 or more");
    }
}
