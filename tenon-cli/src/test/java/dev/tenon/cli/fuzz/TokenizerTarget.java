package dev.tenon.cli.fuzz;

import dev.tenon.models.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Tokenizers' files: loaded, and those that are accepted encode a few texts. */
final class TokenizerTarget implements Target {
    private static final Pattern PIECE = Pattern.compile(
            "\"(?:[^\"\\\\]|\\\\.)*\"|-?[0-9]+(?:\\.[0-9]+)?|true|false|null|\\{[^{}]*}|\\[[^\\[\\]]*]|[{}\\[\\],:]");
    private static final List<String> PIECES = List.of(
            "null",
            "true",
            "false",
            "0",
            "1",
            "-1",
            "3.5",
            "1e400",
            "2147483648",
            "9223372036854775808",
            "\"\"",
            "\"a\"",
            "\"##\"",
            "\"[UNK]\"",
            "\"WordPiece\"",
            "\"BPE\"",
            "\"Unigram\"",
            "\"NFC\"",
            "\"Lowercase\"",
            "\"Sequence\"",
            "\"\\ud83d\\ude00\"",
            "\"\\u0000\"",
            "{}",
            "[]",
            "[[]]",
            "{\"type\":\"Lowercase\"}",
            "{\"a\":1}",
            "[1,2,3]",
            "{\"max_length\":2,\"strategy\":\"LongestFirst\",\"stride\":0,\"direction\":\"Right\"}",
            "{",
            "]",
            ",",
            ":");
    private static final List<String> TEXTS = List.of(
            "a b ab", "", "new x.", "模型 große é\u0301 😀", "\u0000\u200d ##b", "aaaaaaaaaaaaaaaaaaaab".repeat(40));

    private static final String SEED = "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":["
            + "{\"id\":0,\"content\":\"[PAD]\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"
            + "\"normalized\":false,\"special\":true},{\"id\":2,\"content\":\"[CLS]\",\"single_word\":false,"
            + "\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":true}],\"normalizer\":{\"type\":"
            + "\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,\"strip_accents\":null,"
            + "\"lowercase\":true},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"post_processor\":{\"type\":"
            + "\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"[CLS]\",\"type_id\":0}},{\"Sequence\":"
            + "{\"id\":\"A\",\"type_id\":0}},{\"SpecialToken\":{\"id\":\"[SEP]\",\"type_id\":0}}],\"pair\":[],"
            + "\"special_tokens\":{\"[CLS]\":{\"id\":\"[CLS]\",\"ids\":[2],\"tokens\":[\"[CLS]\"]},\"[SEP]\":{\"id\":"
            + "\"[SEP]\",\"ids\":[3],\"tokens\":[\"[SEP]\"]}}},\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\","
            + "\"cleanup\":true},\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\","
            + "\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100,\"vocab\":{\"[PAD]\":0,"
            + "\"[UNK]\":1,\"[CLS]\":2,\"[SEP]\":3,\"a\":4,\"b\":5,\"##b\":6,\"##a\":7,\"ab\":8,\"x\":9,\".\":10,"
            + "\"new\":11}}}";

    @Override
    public String name() {
        return "tokenizer";
    }

    @Override
    public byte[] next(SplittableRandom random) {
        String json = SEED;
        for (int i = random.nextInt(4); i >= 0; i--) {
            List<MatchResult> pieces = PIECE.matcher(json).results().toList();
            if (pieces.isEmpty()) {
                break;
            }
            MatchResult piece = pieces.get(random.nextInt(pieces.size()));
            MatchResult source = pieces.get(random.nextInt(pieces.size()));
            String instead = switch (random.nextInt(5)) {
                case 0 -> "";
                case 1 -> source.group();
                case 2 -> piece.group() + "," + piece.group();
                default -> PIECES.get(random.nextInt(PIECES.size()));
            };
            json = json.substring(0, piece.start()) + instead + json.substring(piece.end());
        }
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        if (random.nextInt(10) == 0 && bytes.length > 0) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
        return bytes;
    }

    @Override
    public String use(byte[] file) {
        Tokenizer tokenizer = Tokenizer.load(file);
        for (String text : TEXTS) {
            tokenizer.encode(text);
        }
        return "encoded";
    }
}
