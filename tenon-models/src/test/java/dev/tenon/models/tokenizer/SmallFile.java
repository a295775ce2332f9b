package dev.tenon.models.tokenizer;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** A {@code tokenizer.json} with a dozen tokens, in which a test changes what it is about. */
final class SmallFile {
    private final Map<String, String> sections = new LinkedHashMap<>();

    SmallFile() {
        sections.put("version", "\"1.0\"");
        sections.put("truncation", "null");
        sections.put("padding", "null");
        sections.put("added_tokens", "[" + added(0, "[PAD]", "special") + "," + added(2, "[CLS]", "special") + "]");
        sections.put("normalizer", bertNormalizer());
        sections.put("pre_tokenizer", "{\"type\":\"BertPreTokenizer\"}");
        sections.put("post_processor", "{\"type\":\"BertProcessing\",\"sep\":[\"[SEP]\",3],\"cls\":[\"[CLS]\",2]}");
        sections.put("decoder", "{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true}");
        sections.put(
                "model",
                model("\"[PAD]\":0,\"[UNK]\":1,\"[CLS]\":2,\"[SEP]\":3,\"a\":4,\"b\":5,\"##b\":6,\"##a\":7,\"ab\":8,"
                        + "\"x\":9,\".\":10,\"new\":11"));
    }

    static String bertNormalizer() {
        return "{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,"
                + "\"strip_accents\":null,\"lowercase\":true}";
    }

    static String model(String vocabulary) {
        return "{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","
                + "\"max_input_chars_per_word\":100,\"vocab\":{" + vocabulary + "}}";
    }

    /** An added token with the named flags set. */
    static String added(int id, String content, String... flags) {
        StringBuilder out = new StringBuilder("{\"id\":" + id + ",\"content\":\"" + content + "\"");
        for (String flag : new String[] {"single_word", "lstrip", "rstrip", "normalized", "special"}) {
            boolean set = java.util.Arrays.asList(flags).contains(flag);
            out.append(",\"").append(flag).append("\":").append(set);
        }
        return out.append('}').toString();
    }

    SmallFile with(String section, String json) {
        sections.put(section, json);
        return this;
    }

    SmallFile without(String section) {
        sections.remove(section);
        return this;
    }

    SmallFile withAdded(String... tokens) {
        return with("added_tokens", "[" + String.join(",", tokens) + "]");
    }

    String json() {
        StringBuilder out = new StringBuilder("{");
        sections.forEach((key, value) -> out.append(out.length() > 1 ? "," : "")
                .append('"')
                .append(key)
                .append("\":")
                .append(value));
        return out.append('}').toString();
    }

    Tokenizer load() {
        return Tokenizer.load(json().getBytes(StandardCharsets.UTF_8));
    }
}
