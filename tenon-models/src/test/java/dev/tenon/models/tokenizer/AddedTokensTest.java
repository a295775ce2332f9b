package dev.tenon.models.tokenizer;

import static dev.tenon.models.tokenizer.SmallFile.added;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ImportException;
import java.util.List;
import org.junit.jupiter.api.Test;

class AddedTokensTest {
    private static List<String> tokens(SmallFile file, String text) {
        return file.load().encode(text, false).tokens();
    }

    @Test
    void longestMatchWins() {
        SmallFile file = new SmallFile().withAdded(added(12, "FOO"), added(13, "FOOBAR"));
        assertThat(tokens(file, "FOOBAR FOO aFOOBA")).containsExactly("FOOBAR", "FOO", "a", "FOO", "b", "##a");
    }

    @Test
    void normalizedTokensMatchTheNormalizedText() {
        SmallFile file = new SmallFile().withAdded(added(12, "NeW", "normalized"), added(13, "RaW"));
        assertThat(tokens(file, "a NEW new RaW")).containsExactly("a", "new", "new", "RaW");
        assertThat(tokens(file, "RAW")).containsExactly("[UNK]");
        assertThat(file.load().encode("NEW", false).ids()).containsExactly(12);
        assertThat(file.load().decode(12, 13)).isEqualTo("new RaW");
    }

    @Test
    void singleWordTokensNeedNoLetterNextToThem() {
        SmallFile file = new SmallFile().withAdded(added(12, "<m>", "single_word"));
        assertThat(tokens(file, "<m> a.<m>.")).containsExactly("<m>", "a", ".", "<m>", ".");
        assertThat(tokens(file, "a<m>")).doesNotContain("<m>");
        assertThat(tokens(file, "<m>_")).doesNotContain("<m>");
        // a combining mark is part of a word
        assertThat(tokens(file, "\u0301<m>")).doesNotContain("<m>");
    }

    @Test
    void strippingTokensTakeWhitespaceOnce() {
        SmallFile file = new SmallFile().withAdded(added(12, "<m>", "lstrip", "rstrip"));
        assertThat(tokens(file, "a  <m>  <m>\u2003b")).containsExactly("a", "  <m>  ", "<m>\u2003", "b");
    }

    @Test
    void specialTokensInTheTextAreFoundAndLeftOutWhenDecoding() {
        Tokenizer tokenizer = new SmallFile().load();
        assertThat(tokenizer.encode("a[CLS]b", false).ids()).containsExactly(4, 2, 5);
        assertThat(tokenizer.decode(4, 2, 5)).isEqualTo("a b");
        assertThat(tokenizer.decode(new int[] {4, 2, 5}, false)).isEqualTo("a [CLS] b");
    }

    @Test
    void tokensBeyondTheModelCount() {
        Tokenizer tokenizer =
                new SmallFile().withAdded(added(12, "FOO"), added(4, "a")).load();
        assertThat(tokenizer.vocabularySize()).isEqualTo(13);
        assertThat(tokenizer.tokenToId("FOO")).hasValue(12);
        assertThat(tokenizer.idToToken(12)).contains("FOO");
    }

    @Test
    void tokensThatNormalizeToNothingNeverMatch() {
        SmallFile file = new SmallFile().withAdded(added(12, "\u0301", "normalized"));
        assertThat(tokens(file, "a b")).containsExactly("a", "b");
    }

    @Test
    void idsMustBeTheTokensOwn() {
        assertThatThrownBy(() -> new SmallFile().withAdded(added(99, "FOO")).load())
                .isInstanceOf(ImportException.class)
                .hasMessage("tokenizer.json, added_tokens: 'FOO' has id 99, but the next free id is 12");
        assertThatThrownBy(() -> new SmallFile().withAdded(added(5, "a")).load())
                .hasMessage("tokenizer.json, added_tokens: 'a' has id 5, but it is already known by id 4");
        assertThatThrownBy(() -> new SmallFile()
                        .withAdded(added(12, "FOO"), added(12, "FOO", "lstrip"))
                        .load())
                .hasMessage("tokenizer.json, added_tokens: 'FOO' is there twice, with different settings");
    }
}
