package dev.tenon.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ImportException;
import dev.tenon.formats.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class GoldenTest {
    @Test
    void encodesAsTheReferenceDoes() {
        List<JsonObject> rows = MiniLm.golden("minilm.json").objects("rows");
        assertThat(rows).hasSize(13);
        for (JsonObject row : rows) {
            String text = row.string("text");
            Encoding encoding = MiniLm.TOKENIZER.encode(text);
            assertThat(encoding.ids()).as(text).isEqualTo(row.ids("ids"));
            assertThat(encoding.tokens()).as(text).isEqualTo(row.strings("tokens"));
            assertThat(MiniLm.TOKENIZER.encode(text, false).ids()).as(text).isEqualTo(row.ids("ids_no_special"));
        }
    }

    @Test
    void encodesAndDecodesAwkwardTexts() {
        List<JsonObject> rows = MiniLm.golden("minilm-awkward.json").objects("texts");
        assertThat(rows).hasSizeGreaterThan(150);
        for (JsonObject row : rows) {
            String text = row.string("text");
            Encoding encoding = MiniLm.UNLIMITED.encode(text);
            assertThat(encoding.ids()).as(text).isEqualTo(row.ids("ids"));
            assertThat(encoding.tokens()).as(text).isEqualTo(row.strings("tokens"));
            assertThat(MiniLm.UNLIMITED.decode(encoding.ids())).as(text).isEqualTo(row.string("decoded"));
        }
    }

    @Test
    void truncatesPairsAsTheReferenceDoes() {
        int refused = 0;
        for (JsonObject row : MiniLm.golden("minilm-awkward.json").objects("pairs")) {
            Truncation truncation = new Truncation(
                    row.integer("max_length", 1),
                    Truncation.Strategy.valueOf(row.string("strategy")),
                    Direction.valueOf(row.string("direction")));
            Tokenizer tokenizer = MiniLm.TOKENIZER.withTruncation(truncation);
            String first = row.string("first");
            String second = row.string("second");
            if (row.has("ids")) {
                Encoding encoding = tokenizer.encode(first, second);
                assertThat(encoding.ids())
                        .as("%s / %s %s", first, second, truncation)
                        .isEqualTo(row.ids("ids"));
                assertThat(encoding.typeIds()).isEqualTo(row.ids("type_ids"));
            } else {
                refused++;
                assertThatThrownBy(() -> tokenizer.encode(first, second))
                        .isInstanceOf(ImportException.class)
                        .hasMessageContaining("truncation " + truncation.strategy());
            }
        }
        assertThat(refused).isPositive();
    }

    @Test
    void agreesWithAnIndependentProgramOnItsTexts() {
        String[] texts = new String(MiniLm.resource("/tokenizer/bert-bge.inp"), StandardCharsets.UTF_8)
                .split("\n__ggml_vocab_test__\n", -1);
        String[] lines = new String(MiniLm.resource("/tokenizer/bert-bge.out"), StandardCharsets.UTF_8).split("\n", -1);
        List<String> differ = new ArrayList<>();
        int compared = 0;
        for (int i = 0; i < texts.length && i < lines.length; i++) {
            int[] ids = lines[i].isBlank()
                    ? new int[0]
                    : Arrays.stream(lines[i].strip().split(" "))
                            .mapToInt(Integer::parseInt)
                            .toArray();
            compared++;
            if (!Arrays.equals(ids, MiniLm.UNLIMITED.encode(texts[i], false).ids())) {
                differ.add(texts[i]);
            }
        }
        assertThat(compared).isGreaterThan(40);
        assertThat(differ).isEmpty();
    }

    @Test
    void takesTheTextsOfTheEmbeddingGoldens() {
        List<String> texts = MiniLm.golden("embed-texts.json").strings("texts");
        TokenBatch batch = MiniLm.TOKENIZER.encodeBatch(texts);
        assertThat(batch.rows()).isEqualTo(texts.size());
        assertThat(batch.length()).isBetween(3, 128);
        assertThat(batch.ids()).hasSize(batch.rows() * batch.length()).doesNotContain(-1);
    }
}
