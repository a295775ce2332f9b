package dev.tenon.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.text.Normalizer.Form;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

class CodePointsTest {
    private static final List<Normalizer> NORMALIZERS = List.of(
            new Normalizer.Bert(true, true, true, true),
            new Normalizer.StripAccents(),
            new Normalizer.Unicode(Form.NFD),
            new Normalizer.Unicode(Form.NFC),
            new Normalizer.Unicode(Form.NFKD),
            new Normalizer.Unicode(Form.NFKC));
    private static final List<PreTokenizer> PRE_TOKENIZERS = List.of(
            new PreTokenizer.Bert(),
            new PreTokenizer.Whitespace(),
            new PreTokenizer.Punctuation(PreTokenizer.Punctuation.Behavior.ISOLATED));

    /** Each code point between two letters, through each normaliser and pre-tokeniser, against the reference. */
    @Test
    void treatsEveryCodePointAsTheReferenceDoes() {
        List<String> blocks = new ArrayList<>();
        for (int block = 0; block < 0x110000; block += 0x1000) {
            CRC32 crc = new CRC32();
            for (int cp = block; cp < block + 0x1000; cp++) {
                if (cp < 0xD800 || cp > 0xDFFF) {
                    crc.update(results("a" + Character.toString(cp) + "b").getBytes(StandardCharsets.UTF_8));
                }
            }
            blocks.add("%x %08x".formatted(block, crc.getValue()));
        }
        List<String> expected = new String(MiniLm.resource("/tokenizer/code-points.txt"), StandardCharsets.UTF_8)
                .lines()
                .toList();
        assertThat(blocks).isEqualTo(expected);
    }

    private static String results(String text) {
        List<String> results = new ArrayList<>();
        for (Normalizer normalizer : NORMALIZERS) {
            results.add(normalizer.normalize(text));
        }
        for (PreTokenizer preTokenizer : PRE_TOKENIZERS) {
            results.add(String.join("\u001E", split(preTokenizer, text)));
        }
        return String.join("\u001F", results);
    }

    static List<String> split(PreTokenizer preTokenizer, String text) {
        Spans spans = new Spans();
        preTokenizer.split(text, 0, text.length(), spans);
        List<String> words = new ArrayList<>();
        for (int i = 0; i < spans.count(); i++) {
            words.add(text.substring(spans.start(i), spans.end(i)));
        }
        return words;
    }

    @Test
    void replacesLoneSurrogatesOnly() {
        assertThat(CodePoints.wellFormed("\uD83D\uDE00")).isEqualTo("\uD83D\uDE00");
        assertThat(CodePoints.wellFormed("a\uD83D")).isEqualTo("a\uFFFD");
        assertThat(CodePoints.wellFormed("\uDE00b")).isEqualTo("\uFFFDb");
        assertThat(CodePoints.wellFormed("\uD83D\uD83D\uDE00\uDE00")).isEqualTo("\uFFFD\uD83D\uDE00\uFFFD");
    }

    @Test
    void composesNothingAcrossCharactersThatTheReferenceDoesNotKnow() {
        // Todhri letters and their compositions came with Unicode 16
        String decomposed = Character.toString(0x105D2) + "\u0307";
        assertThat(UnicodeForm.apply(Form.NFC, decomposed)).isEqualTo(decomposed);
        assertThat(UnicodeForm.apply(Form.NFC, "e\u0301")).isEqualTo("\u00E9");
        // U+0898 is a mark of Unicode 14: it is neither moved nor moved past
        assertThat(UnicodeForm.apply(Form.NFD, "a\u0345\u0898\u0334")).isEqualTo("a\u0345\u0898\u0334");
    }

    @Test
    void keepsRangesAsTheyAreWritten() {
        UnicodeRanges ranges = UnicodeRanges.parse("2 1+2\n  a+10");
        List<Integer> members = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            if (ranges.contains(i)) {
                members.add(i);
            }
        }
        assertThat(members).startsWith(2, 4, 5, 6, 17).endsWith(53).hasSize(ranges.size());
        assertThat(ranges.contains(0x10FFFF)).isFalse();
    }
}
