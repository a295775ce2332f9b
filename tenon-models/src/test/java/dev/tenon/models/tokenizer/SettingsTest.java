package dev.tenon.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.InputException;
import java.util.List;
import org.junit.jupiter.api.Test;

class SettingsTest {
    private static final String LONG = "word ".repeat(1000);

    @Test
    void theFilesTruncationHoldsUntilOverridden() {
        assertThat(MiniLm.TOKENIZER.truncation()).contains(Truncation.to(128));
        assertThat(MiniLm.TOKENIZER.encode(LONG).size()).isEqualTo(128);
        Encoding longer = MiniLm.TOKENIZER.withTruncation(512).encode(LONG);
        assertThat(longer.size()).isEqualTo(512);
        assertThat(longer.tokens()).startsWith("[CLS]").endsWith("[SEP]");
        assertThat(MiniLm.TOKENIZER.withoutTruncation().encode(LONG).size()).isEqualTo(1002);
        assertThat(MiniLm.TOKENIZER.encode(LONG).size())
                .as("the original is unchanged")
                .isEqualTo(128);
    }

    @Test
    void truncationCutsAtItsEnd() {
        Truncation left = new Truncation(4, Truncation.Strategy.LONGEST_FIRST, Direction.LEFT);
        assertThat(MiniLm.TOKENIZER.withTruncation(left).encode("a b c d").tokens())
                .containsExactly("[CLS]", "c", "d", "[SEP]");
        assertThat(MiniLm.TOKENIZER.withTruncation(2).encode("a b c d").tokens())
                .containsExactly("[CLS]", "[SEP]");
    }

    @Test
    void truncationMustHaveRoomForSpecialTokens() {
        assertThatThrownBy(() -> MiniLm.TOKENIZER.withTruncation(1))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("less than the 2 special tokens");
        assertThatThrownBy(() -> MiniLm.TOKENIZER.withTruncation(2).encode("a", "b"))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("3 special tokens");
        assertThatThrownBy(() -> Truncation.to(0)).isInstanceOf(InputException.class);
    }

    @Test
    void onlySecondNeedsASecond() {
        Tokenizer tokenizer =
                MiniLm.TOKENIZER.withTruncation(new Truncation(4, Truncation.Strategy.ONLY_SECOND, Direction.RIGHT));
        assertThat(tokenizer.encode("a b").size()).isEqualTo(4);
        assertThatThrownBy(() -> tokenizer.encode("a b c"))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("ONLY_SECOND");
    }

    @Test
    void pairsHaveTypeIds() {
        Encoding encoding = MiniLm.TOKENIZER.encode("hello", "big world");
        assertThat(encoding.ids()).containsExactly(101, 7592, 102, 2502, 2088, 102);
        assertThat(encoding.typeIds()).containsExactly(0, 0, 0, 1, 1, 1);
        assertThat(encoding.specialTokensMask()).containsExactly(1, 0, 1, 0, 0, 1);
        assertThat(MiniLm.TOKENIZER.encode("hello", "big world", false).typeIds())
                .containsExactly(0, 1, 1);
    }

    @Test
    void batchesArePaddedToTheLongest() {
        TokenBatch batch = MiniLm.TOKENIZER.encodeBatch(List.of("a", "a b c", ""));
        assertThat(batch.rows()).isEqualTo(3);
        assertThat(batch.length()).isEqualTo(5);
        assertThat(batch.ids()).containsExactly(101, 1037, 102, 0, 0, 101, 1037, 1038, 1039, 102, 101, 102, 0, 0, 0);
        assertThat(batch.attentionMask()).containsExactly(1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0);
        assertThat(batch.typeIds()).containsOnly(0);
        assertThat(batch.encodings().getFirst().tokens()).containsExactly("[CLS]", "a", "[SEP]", "[PAD]", "[PAD]");
        TokenBatch none = MiniLm.TOKENIZER.encodeBatch(List.of());
        assertThat(none.rows()).isZero();
        assertThat(none.ids()).isEmpty();
    }

    @Test
    void declaredPaddingIsAppliedOnRequest() {
        assertThat(MiniLm.TOKENIZER.encode("a").size()).isEqualTo(3);
        Padding declared = MiniLm.TOKENIZER.declaredPadding().orElseThrow();
        assertThat(declared.fixedLength()).isEqualTo(128);
        Encoding padded = MiniLm.TOKENIZER.withPadding(declared).encode("a");
        assertThat(padded.size()).isEqualTo(128);
        assertThat(padded.attentionMask()).startsWith(1, 1, 1, 0).endsWith(0);
        assertThat(padded.specialTokensMask()).startsWith(1, 0, 1, 1);
    }

    @Test
    void paddingHasADirectionAndAMultiple() {
        Padding left = new Padding(0, 4, Direction.LEFT, 7, 3, "<p>");
        Encoding encoding = MiniLm.TOKENIZER.withPadding(left).encode("a");
        assertThat(encoding.ids()).containsExactly(7, 101, 1037, 102);
        assertThat(encoding.typeIds()).containsExactly(3, 0, 0, 0);
        assertThat(encoding.tokens().getFirst()).isEqualTo("<p>");
        TokenBatch batch = MiniLm.TOKENIZER.withPadding(left.toLength(2)).encodeBatch(List.of("a", "a b c"));
        assertThat(batch.length()).as("a fixed length shortens nothing").isEqualTo(5);
        assertThatThrownBy(() -> left.toLength(-1)).isInstanceOf(InputException.class);
        assertThatThrownBy(() -> left.toMultipleOf(-1)).isInstanceOf(InputException.class);
    }

    @Test
    void idsAndTokens() {
        assertThat(MiniLm.TOKENIZER.vocabularySize()).isEqualTo(30522);
        assertThat(MiniLm.TOKENIZER.idToToken(2015)).contains("##s");
        assertThat(MiniLm.TOKENIZER.idToToken(-1)).isEmpty();
        assertThat(MiniLm.TOKENIZER.idToToken(30522)).isEmpty();
        assertThat(MiniLm.TOKENIZER.tokenToId("##s")).hasValue(2015);
        assertThat(MiniLm.TOKENIZER.tokenToId("Hello")).isEmpty();
        assertThat(MiniLm.TOKENIZER.tokenToId("")).isEmpty();
    }

    @Test
    void decodingCleansUpOneTokenAtATime() {
        assertThat(MiniLm.TOKENIZER.decode(101, 7592, 1010, 2088, 999, 102)).isEqualTo("hello, world!");
        assertThat(MiniLm.TOKENIZER.decode(2123, 1005, 1056, 2079, 2025)).isEqualTo("don ' t do not");
        assertThat(MiniLm.TOKENIZER.decode(2015, 2015, 99999, -5)).isEqualTo("##ss");
        assertThat(MiniLm.TOKENIZER.decode()).isEmpty();
        assertThat(new SmallFile().with("decoder", "null").load().decode(4, 6)).isEqualTo("a ##b");
    }

    @Test
    void encodingsAreValues() {
        Encoding encoding = MiniLm.TOKENIZER.encode("a b");
        encoding.ids()[0] = 7;
        assertThat(encoding.ids()[0]).isEqualTo(101);
        assertThat(encoding).isEqualTo(MiniLm.TOKENIZER.encode("a b")).isNotEqualTo(MiniLm.TOKENIZER.encode("a"));
        assertThat(encoding).hasSameHashCodeAs(MiniLm.TOKENIZER.encode("a b"));
        assertThat(encoding).hasToString("Encoding[[CLS], a, b, [SEP]]");
    }
}
