package dev.tenon.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.formats.json.JsonObject;
import java.text.Normalizer.Form;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ComponentsTest {
    @Test
    void bertNormalizerDoesWhatItsFlagsSay() {
        String text = "\u00C9a\u0000\tb\u4E2D";
        assertThat(new Normalizer.Bert(false, false, false, false).normalize(text))
                .isEqualTo(text);
        assertThat(new Normalizer.Bert(true, false, false, false).normalize(text))
                .isEqualTo("\u00C9a b\u4E2D");
        assertThat(new Normalizer.Bert(false, true, false, false).normalize("b\u4E2D"))
                .isEqualTo("b \u4E2D ");
        assertThat(new Normalizer.Bert(false, false, true, false).normalize("\u00C9"))
                .isEqualTo("E");
        assertThat(new Normalizer.Bert(false, false, false, true).normalize("\u00C9\u0130\u03A3"))
                .isEqualTo("\u00E9i\u0307\u03C3");
        assertThat(new Normalizer.Bert(true, true, true, true).normalize("A\u000B\f\r\nB\u007F"))
                .isEqualTo("a  b");
    }

    @Test
    void absentStripAccentsFollowsLowercase() {
        SmallFile cased = new SmallFile()
                .with("normalizer", SmallFile.bertNormalizer().replace("\"lowercase\":true", "\"lowercase\":false"));
        assertThat(cased.load().encode("\u00E1", false).tokens()).containsExactly("[UNK]");
        assertThat(new SmallFile().load().encode("\u00C1", false).tokens()).containsExactly("a");
    }

    @Test
    void otherNormalizers() {
        assertThat(new Normalizer.StripAccents().normalize("e\u0301\u00E9")).isEqualTo("e\u00E9");
        assertThat(new Normalizer.Strip(true, false).normalize(" \u3000a ")).isEqualTo("a ");
        assertThat(new Normalizer.Strip(true, true).normalize(" \t ")).isEmpty();
        assertThat(new Normalizer.Replace("aa", "a").normalize("aaaa")).isEqualTo("aa");
        assertThat(new Normalizer.Unicode(Form.NFKC).normalize("\uFB01\u2460")).isEqualTo("fi1");
        Normalizer chain = new Normalizer.Chain(
                List.of(new Normalizer.Unicode(Form.NFD), new Normalizer.Lowercase(), new Normalizer.StripAccents()));
        assertThat(chain.normalize("H\u00C9LLO")).isEqualTo("hello");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '/',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "Removed/  |a|b  |c| d1234 e|f\u00A0| ",
                "Isolated/  |.|a|.|.|b  |-|c|!| d1234 e|_|f\u00A0|?|?| ",
                "Contiguous/  |.|a|..|b  |-|c|!| d1234 e|_|f\u00A0|??| ",
                "MergedWithPrevious/  .|a.|.|b  -|c!| d1234 e_|f\u00A0?|?| ",
                "MergedWithNext/  |.a|.|.b  |-c|! d1234 e|_f\u00A0|?|? ",
            })
    void punctuation(String behavior, String expected) {
        JsonObject json =
                new JsonObject("pre_tokenizer", 0, java.util.Map.of("type", "Punctuation", "behavior", behavior));
        assertThat(CodePointsTest.split(PreTokenizerReader.read(json), "  .a..b  -c! d1234 e_f\u00A0?? "))
                .containsExactly(expected.split("\\|"));
    }

    @Test
    void otherPreTokenizers() {
        String text = "  .a..b  -c! d1 e_f\u00A0?? ";
        assertThat(CodePointsTest.split(new PreTokenizer.Whitespace(), text))
                .containsExactly(".", "a", "..", "b", "-", "c", "!", "d1", "e_f", "??");
        assertThat(CodePointsTest.split(new PreTokenizer.WhitespaceSplit(), text))
                .containsExactly(".a..b", "-c!", "d1", "e_f", "??");
        assertThat(CodePointsTest.split(PreTokenizer.NONE, text)).containsExactly(text);
    }

    @Test
    void wordPieceTakesTheLongestPiece() {
        Tokenizer tokenizer = new SmallFile().load();
        assertThat(tokenizer.encode("abba", false).tokens()).containsExactly("ab", "##b", "##a");
        assertThat(tokenizer.encode("abx", false).tokens()).as("no ##x").containsExactly("[UNK]");
        // the prefix is only tried on continuations
        assertThat(MiniLm.TOKENIZER.encode("##s", false).tokens()).containsExactly("#", "#", "s");
    }

    @Test
    void wordsAreCountedInCodePoints() {
        assertThat(MiniLm.UNLIMITED.encode("a".repeat(100), false).tokens()).doesNotContain("[UNK]");
        assertThat(MiniLm.UNLIMITED.encode("a".repeat(101), false).tokens()).containsExactly("[UNK]");
        Tokenizer emoji = new SmallFile()
                .with("model", SmallFile.model("\"[UNK]\":0,\"\uD83D\uDE00\":1,\"##\uD83D\uDE00\":2"))
                .without("added_tokens")
                .load();
        assertThat(emoji.encode("\uD83D\uDE00".repeat(100), false).size()).isEqualTo(100);
        assertThat(emoji.encode("\uD83D\uDE00".repeat(101), false).size()).isEqualTo(1);
    }

    @Test
    void templatesPutSpecialTokensWhereTheySay() {
        String template = "{\"type\":\"TemplateProcessing\",\"single\":[{\"Sequence\":{\"id\":\"A\",\"type_id\":4}},"
                + "{\"SpecialToken\":{\"id\":\"end\",\"type_id\":5}}],\"pair\":[],\"special_tokens\":"
                + "{\"end\":{\"id\":\"end\",\"ids\":[3,2],\"tokens\":[\"[SEP]\",\"[CLS]\"]}}}";
        Tokenizer tokenizer = new SmallFile().with("post_processor", template).load();
        Encoding encoding = tokenizer.encode("a b");
        assertThat(encoding.ids()).containsExactly(4, 5, 3, 2);
        assertThat(encoding.typeIds()).containsExactly(4, 4, 5, 5);
        assertThat(tokenizer.encode("a b", "x").ids()).isEmpty();
        assertThat(new SmallFile()
                        .without("post_processor")
                        .load()
                        .encode("a", "b")
                        .typeIds())
                .containsExactly(0, 1);
    }
}
