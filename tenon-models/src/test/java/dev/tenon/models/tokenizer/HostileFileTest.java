package dev.tenon.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.tenon.core.error.ImportException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostileFileTest {
    private static void refused(SmallFile file, String... parts) {
        refused(file.json(), parts);
    }

    private static void refused(String json, String... parts) {
        assertThatThrownBy(() -> Tokenizer.load(json.getBytes(StandardCharsets.UTF_8)))
                .isExactlyInstanceOf(ImportException.class)
                .hasMessageContainingAll(parts);
    }

    @Test
    void notJson() {
        refused("", "byte 0", "the file ends");
        refused("   ", "byte 3");
        refused("null", "expected '{'");
        refused("[]", "expected '{'");
        refused("{}", "model is missing");
        refused(new SmallFile().json() + "x", "expected the end of the file");
        refused("{\"a\":\u0007}", "expected a value", "byte 5");
        refused("{\"a\":01}", "byte 6");
        refused("{\"a\":1,}", "expected '\"'");
        refused("{\"a\":1 \"b\":2}", "expected ','");
        refused("{\"a\":\"\n\"}", "unescaped");
        refused("{\"a\":\"\\ud800\"}", "surrogate");
        refused("{\"a\":\"\\u12g4\"}", "hexadecimal");
        refused("{\"a\":\"\\x\"}", "escape");
        refused("{\"a\":1,\"a\":2}", "twice");
        refused("{\"a\":" + "[".repeat(100_000), "nested deeper than 64");
        refused("{\"a\":" + "{\"a\":".repeat(100_000), "nested deeper than 64");
        assertThatThrownBy(() -> Tokenizer.load(new byte[] {'{', '"', (byte) 0xC3, '"', ':', '1', '}'}))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("byte 2: this is not UTF-8");
    }

    @Test
    void everyTruncationIsRefused() {
        byte[] json = new SmallFile().json().getBytes(StandardCharsets.UTF_8);
        for (int length = 0; length < json.length; length++) {
            byte[] part = Arrays.copyOf(json, length);
            assertThatThrownBy(() -> Tokenizer.load(part)).isExactlyInstanceOf(ImportException.class);
        }
        byte[] half = Arrays.copyOf(MiniLm.json(), 300_000);
        assertThatThrownBy(() -> Tokenizer.load(half)).hasMessageContaining("byte ");
    }

    /** Whatever is done to the bytes, the answer is a tokenizer that works or the one exception. */
    @Test
    void randomDamageIsRefusedOrHarmless() {
        byte[] json = new SmallFile().json().getBytes(StandardCharsets.UTF_8);
        Random random = new Random(1);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] damaged = json.clone();
            for (int n = random.nextInt(4); n >= 0; n--) {
                int at = random.nextInt(damaged.length);
                damaged[at] = random.nextBoolean()
                        ? (byte) random.nextInt(256)
                        : (byte) "{}[]\",:0123456789-eEtfn\\u".charAt(random.nextInt(25));
            }
            try {
                Tokenizer.load(damaged).encode("ab [CLS] \u00E9 new", "x");
            } catch (ImportException e) {
                refused++;
                assertThat(e.getMessage()).isNotBlank();
            } catch (RuntimeException e) {
                fail(new String(damaged, StandardCharsets.ISO_8859_1), e);
            }
        }
        assertThat(refused).isGreaterThan(10_000);
        for (int i = 0; i < 2_000; i++) {
            byte[] noise = new byte[random.nextInt(200)];
            random.nextBytes(noise);
            assertThatThrownBy(() -> Tokenizer.load(noise)).isExactlyInstanceOf(ImportException.class);
        }
    }

    @Test
    void badIds() {
        refused(new SmallFile().with("model", SmallFile.model("\"[UNK]\":-1")), "'[UNK]'", "0..2147483647");
        refused(new SmallFile().with("model", SmallFile.model("\"[UNK]\":1.0")), "must be an integer");
        refused(new SmallFile().with("model", SmallFile.model("\"[UNK]\":01")), "must be an integer");
        refused(new SmallFile().with("model", SmallFile.model("\"[UNK]\":99999999999999999999")), "must be an integer");
        refused(new SmallFile().with("model", SmallFile.model("\"[UNK]\":\"1\"")), "must be an integer");
        refused(new SmallFile().with("model", SmallFile.model("\"[UNK]\":0,\"a\":0")), "id 0 to both '[UNK]' and 'a'");
        refused(new SmallFile().with("model", SmallFile.model("\"[UNK]\":0,\"[UNK]\":1")), "'[UNK]' twice");
        refused(new SmallFile().with("model", SmallFile.model("\"[UNK]\":2147483647")), "close to consecutive");
        refused(new SmallFile().with("model", SmallFile.model("\"a\":0")), "unk_token '[UNK]' is not in model.vocab");
        refused(new SmallFile().with("model", SmallFile.model("")), "unk_token '[UNK]' is not in model.vocab");
    }

    @Test
    void missingAndWrongFields() {
        String model = SmallFile.model("\"[UNK]\":0");
        for (String field : new String[] {"unk_token", "continuing_subword_prefix", "max_input_chars_per_word"}) {
            refused(new SmallFile().with("model", model.replace(field, "other")), "model." + field + " is missing");
        }
        refused(new SmallFile().with("model", model.replace("vocab", "other")), "model.vocab is missing");
        refused(new SmallFile().with("model", "{\"vocab\":[],\"unk_token\":\"a\"}"), "model.vocab is an array");
        refused(new SmallFile().with("model", "3"), "model is missing");
        refused(new SmallFile().with("version", "\"2.0\""), "version is '2.0'", "supported: 1.0");
        refused(new SmallFile().with("normalizer", "[]"), "normalizer is an array; it must be an object");
        refused(new SmallFile().with("normalizer", "{}"), "normalizer.type is missing");
        refused(new SmallFile().with("added_tokens", "[{\"id\":1}]"), "added_tokens[0].content is missing");
        refused(new SmallFile().with("added_tokens", "[null]"), "added_tokens[0] is null");
        refused(new SmallFile().with("decoder", "{\"type\":\"BPEDecoder\"}"), "decoder.type is 'BPEDecoder'");
        refused(
                new SmallFile().with("post_processor", "{\"type\":\"BertProcessing\",\"cls\":[1,2],\"sep\":[]}"),
                "post_processor.cls must be an array of a token and its id");
    }

    @Test
    void unsupportedParts() {
        refused(
                new SmallFile().with("model", "{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]}"),
                "model.type is 'BPE'",
                "supported: WordPiece");
        refused(new SmallFile().with("model", "{\"type\":\"Unigram\",\"vocab\":[[\"a\",0.5]]}"), "'Unigram'");
        refused(
                new SmallFile().with("normalizer", "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Nmt\"}]}"),
                "normalizer.normalizers[0].type is 'Nmt', which is not supported; supported: BertNormalizer, Sequence");
        refused(
                new SmallFile().with("normalizer", "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a\"}}"),
                "regular expressions are not supported");
        refused(new SmallFile().with("pre_tokenizer", "{\"type\":\"ByteLevel\"}"), "pre_tokenizer.type is 'ByteLevel'");
        refused(new SmallFile().with("post_processor", "{\"type\":\"Sequence\"}"), "supported: TemplateProcessing");
    }

    @Test
    void badTemplates() {
        String start = "{\"type\":\"TemplateProcessing\",\"special_tokens\":{\"x\":{\"ids\":[1],\"tokens\":[]}},";
        refused(
                new SmallFile()
                        .with(
                                "post_processor",
                                start + "\"single\":[{\"SpecialToken\":{\"id\":\"y\",\"type_id\":0}}]}"),
                "post_processor.special_tokens.y is missing");
        refused(
                new SmallFile()
                        .with(
                                "post_processor",
                                start + "\"single\":[{\"SpecialToken\":{\"id\":\"x\",\"type_id\":0}}]}"),
                "has 1 ids, but 0 tokens");
        refused(
                new SmallFile()
                        .with("post_processor", start + "\"single\":[{\"Sequence\":{\"id\":\"B\",\"type_id\":0}}]}"),
                "post_processor.single[0].Sequence.id is 'B'");
        refused(new SmallFile().with("post_processor", start + "\"single\":[{}]}"), "neither");
    }

    @Test
    void badTruncationAndPadding() {
        String truncation = "{\"direction\":\"Right\",\"max_length\":1,\"strategy\":\"LongestFirst\",\"stride\":0}";
        refused(new SmallFile().with("truncation", truncation), "less than the 2 special tokens");
        refused(new SmallFile().with("truncation", truncation.replace("Right", "Up")), "supported: Left, Right");
        refused(new SmallFile().with("truncation", truncation.replace(":1", ":-1")), "truncation.max_length is -1");
        String padding = "{\"strategy\":{\"Fixed\":9999999},\"direction\":\"Right\",\"pad_to_multiple_of\":null,"
                + "\"pad_id\":0,\"pad_type_id\":0,\"pad_token\":\"[PAD]\"}";
        refused(new SmallFile().with("padding", padding), "pads to more than 1048576 tokens");
        refused(
                new SmallFile().with("padding", padding.replace("Fixed", "Other")),
                "padding.strategy.Fixed is missing");
        refused(new SmallFile().with("padding", padding.replace("{\"Fixed\":9999999}", "7")), "padding.strategy is 7");
    }

    /** Vocabularies chosen so that hashes collide must not make loading quadratic. */
    @Test
    void collidingTokensAreRefused() {
        Vocabulary.Builder builder = new Vocabulary.Builder();
        // pairs of characters of equal hash are looked for by brute force: c1 * M + c2 for the same sum mod 2^32
        java.util.Map<Integer, Integer> perSlot = new java.util.HashMap<>();
        int id = 0;
        for (char c = 0x100; c < 0xD800 && id < 3000; c++) {
            for (char d = 0x100; d < 0x400 && id < 3000; d++) {
                String token = "" + c + d;
                int hash = Vocabulary.hash(token);
                if (((hash ^ (hash >>> 15)) & 0x1FFF) < 2) {
                    perSlot.merge(hash, 1, Integer::sum);
                    builder.add(token, id++);
                }
            }
        }
        assertThat(id).isEqualTo(3000);
        assertThatThrownBy(builder::build)
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("this is no real vocabulary");
    }

    @Test
    void sectionsMayBeAbsentOrNullOrInAnyOrder() {
        String model = new SmallFile().json();
        assertThatCode(() -> Tokenizer.load(model.getBytes(StandardCharsets.UTF_8)))
                .doesNotThrowAnyException();
        Tokenizer bare = Tokenizer.load(("{\"model\":" + SmallFile.model("\"[UNK]\":0,\"a\":1")
                        + ",\"version\":\"1.0\",\"other\":[1,-2.5e3,true]}")
                .getBytes(StandardCharsets.UTF_8));
        assertThat(bare.encode("a").ids()).containsExactly(1);
        assertThat(bare.encode("a b").ids()).containsExactly(0);
        assertThat(bare.truncation()).isEmpty();
        assertThat(bare.padding().token()).isEqualTo("[PAD]");
    }

    @Test
    void loadsFromFilesAndStreams(@TempDir Path dir) throws IOException {
        Path file = Files.write(dir.resolve("tokenizer.json"), MiniLm.json());
        Encoding expected = MiniLm.TOKENIZER.encode("Hello, world!");
        assertThat(Tokenizer.load(file).encode("Hello, world!")).isEqualTo(expected);
        assertThat(Tokenizer.load(new ByteArrayInputStream(MiniLm.json())).encode("Hello, world!"))
                .isEqualTo(expected);
        assertThatThrownBy(() -> Tokenizer.load(dir.resolve("none.json"))).isInstanceOf(NoSuchFileException.class);
    }
}
