package dev.tenon.models.tokenizer;

import dev.tenon.formats.json.JsonObject;
import java.text.Normalizer.Form;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the {@code normalizer} section. */
final class NormalizerReader {
    private static final List<String> TYPES = List.of(
            "BertNormalizer",
            "Sequence",
            "Lowercase",
            "NFD",
            "NFC",
            "NFKD",
            "NFKC",
            "StripAccents",
            "Strip",
            "Replace");

    private NormalizerReader() {}

    static Normalizer read(@Nullable JsonObject json) {
        if (json == null) {
            return Normalizer.NONE;
        }
        return switch (json.choice("type", TYPES)) {
            case "BertNormalizer" -> bert(json);
            case "Sequence" -> sequence(json);
            case "Lowercase" -> new Normalizer.Lowercase();
            case "NFD" -> new Normalizer.Unicode(Form.NFD);
            case "NFC" -> new Normalizer.Unicode(Form.NFC);
            case "NFKD" -> new Normalizer.Unicode(Form.NFKD);
            case "NFKC" -> new Normalizer.Unicode(Form.NFKC);
            case "StripAccents" -> new Normalizer.StripAccents();
            case "Strip" -> new Normalizer.Strip(json.bool("strip_left"), json.bool("strip_right"));
            case "Replace" -> replace(json);
            default -> throw new IllegalStateException("a type without a reader");
        };
    }

    private static Normalizer bert(JsonObject json) {
        boolean lowercase = json.bool("lowercase");
        return new Normalizer.Bert(
                json.bool("clean_text"),
                json.bool("handle_chinese_chars"),
                json.bool("strip_accents", lowercase),
                lowercase);
    }

    private static Normalizer sequence(JsonObject json) {
        List<Normalizer> steps = new ArrayList<>();
        for (JsonObject step : json.objects("normalizers")) {
            steps.add(read(step));
        }
        return new Normalizer.Chain(steps);
    }

    private static Normalizer replace(JsonObject json) {
        JsonObject pattern = json.object("pattern");
        if (!pattern.has("String")) {
            throw pattern.error("", "has no 'String'; regular expressions are not supported");
        }
        String text = pattern.string("String");
        if (text.isEmpty()) {
            throw pattern.error("String", "is empty");
        }
        return new Normalizer.Replace(text, json.string("content"));
    }
}
