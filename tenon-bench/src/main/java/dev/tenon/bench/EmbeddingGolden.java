package dev.tenon.bench;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import dev.langchain4j.model.embedding.onnx.OnnxEmbeddingModel;
import dev.langchain4j.model.embedding.onnx.PoolingMode;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Writes the vectors that LangChain4j's in-process models give for awkward texts, which the golden tests compare with
 * Tenon's.
 *
 * <p>Arguments: {@code MODEL.onnx TOKENIZER.json cls|mean OUT.jsonl [split]}. A line is
 * {@code {"text": …, "vector": …}}, the vector as base64 of little-endian floats. LangChain4j's tokenizer cuts at the
 * tokenizer file's limit, or else at 512 tokens, so that its splitting of longer texts into parts of 510 tokens never
 * comes into play; with {@code split} its encoder gets a tokenizer that does not cut.
 */
public final class EmbeddingGolden {
    private EmbeddingGolden() {}

    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        boolean split = args.length > 4 && args[4].equals("split");
        OnnxEmbeddingModel model = new OnnxEmbeddingModel(
                Path.of(args[0]), Path.of(args[1]), PoolingMode.valueOf(args[2].toUpperCase(Locale.ROOT)));
        if (split) {
            stopCutting(model, Path.of(args[1]));
        }
        try (PrintWriter out = new PrintWriter(args[3], StandardCharsets.UTF_8)) {
            for (String text : texts(split)) {
                float[] vector = model.embed(text).content().vector();
                out.print("{\"text\":\"" + escaped(text) + "\",\"vector\":\"" + base64(vector) + "\"}\n");
            }
        }
        System.exit(0); // the model's thread pool would keep the process for a second
    }

    private static void stopCutting(OnnxEmbeddingModel model, Path tokenizer)
            throws IOException, ReflectiveOperationException {
        Field encoderField = Stream.of(OnnxEmbeddingModel.class.getDeclaredFields())
                .filter(field -> field.getType().getSimpleName().equals("OnnxBertBiEncoder"))
                .findFirst()
                .orElseThrow();
        encoderField.setAccessible(true);
        Object encoder = encoderField.get(model);
        Field tokenizerField = encoder.getClass().getDeclaredField("tokenizer");
        tokenizerField.setAccessible(true);
        tokenizerField.set(
                encoder,
                HuggingFaceTokenizer.newInstance(tokenizer, Map.of("padding", "false", "truncation", "false")));
    }

    /** Texts that tokenizers and limits are most likely to differ on; only long ones where parts are the matter. */
    private static List<String> texts(boolean onlyLong) {
        List<String> words = List.of(
                "river", "quantisation", "of", "the", "Löwe", "measures", "unbelievably", "模型", "42", "tokens,");
        List<String> texts = new ArrayList<>();
        for (int count : List.of(60, 126, 127, 200, 253, 300, 505, 600, 1100)) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < count; i++) {
                text.append(words.get((i * 7 + i / 10) % words.size())).append(i % 13 == 12 ? ". " : " ");
            }
            texts.add(text.toString());
        }
        texts.add("supercalifragilisticexpialidocious ".repeat(80));
        texts.add("数据库的向量检索需要好的嵌入模型。".repeat(60));
        if (onlyLong) {
            texts.removeIf(text -> text.length() < 1000 && !text.contains("数据库"));
            texts.add("short");
            return texts;
        }
        texts.addAll(List.of(
                "a",
                ".",
                "A short sentence about vector databases.",
                "UPPER lower MiXeD",
                "naïve café résumé — “quoted” … ½ ﬁ ﬂ",
                "e\u0301 a\u0308\u0323 n\u0303\u0330\u0330 Z\u0351\u036B\u0343a\u0321l\u0345g\u034Co",
                "İstanbul ıI ß ẞ ŒUVRE Σίσυφος ΣΑΣ",
                "😀 👩‍👩‍👧‍👦 🇩🇪 👍🏽 text after emoji",
                "😀",
                "模型压缩与量化",
                "深度学习 deep learning を 使う 한국어 문장도",
                "𠀀𠮷 𝒳𝓎𝓏 𐍈",
                "مرحبا بالعالم שלום עולם हिन्दी ภาษาไทย",
                "bell\u0007 null\u0000 tab\tnew\nline\r\nvt\u000Bff\f esc\u001B[31mred",
                "zero\u200Bwidth\u200Djoin\u2060er\uFEFFbom soft\u00ADhyphen",
                "nbsp\u00A0thin\u2009ideographic\u3000space line\u2028sep",
                "[CLS] and [SEP] and [MASK] and [UNK] and [PAD]",
                "##ing # ## ### a## ##",
                "don't can't i'm we'll 'tis rock'n'roll",
                "1234567890 3.14159 1e-10 0xFF 12:34:56 2024-02-30 $1,000.00 50%",
                "http://example.org/a/b?c=d&e=f#g user@example.com C:\\path\\file.txt",
                "{\"key\": [1, 2, {\"nested\": null}]} <b>html</b> &amp; `code` ~/.bashrc",
                "x".repeat(99) + " " + "y".repeat(100) + " " + "z".repeat(101),
                "word".repeat(2500),
                "a ".repeat(5000),
                "!?".repeat(300),
                "\u0300\u0301 leading marks",
                "private \uE000 unassigned \u0378 noncharacter \uFFFE replacement \uFFFD",
                "SELECT * FROM t WHERE a = 'b' -- comment; int main(void) { return 0; }"));
        return texts;
    }

    private static String base64(float[] vector) {
        ByteBuffer bytes = ByteBuffer.allocate(vector.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(vector);
        return Base64.getEncoder().encodeToString(bytes.array());
    }

    private static String escaped(String text) {
        StringBuilder json = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= ' ' && c < 0x7F && c != '"' && c != '\\') {
                json.append(c);
            } else {
                json.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            }
        }
        return json.toString();
    }
}
