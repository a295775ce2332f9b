package dev.tenon.models.tokenizer;

import dev.tenon.formats.json.JsonObject;
import dev.tenon.models.tokenizer.PreTokenizer.Punctuation.Behavior;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the {@code pre_tokenizer} section. */
final class PreTokenizerReader {
    private static final List<String> TYPES =
            List.of("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "Punctuation", "Sequence");
    private static final List<String> BEHAVIORS =
            List.of("Removed", "Isolated", "Contiguous", "MergedWithPrevious", "MergedWithNext");

    private PreTokenizerReader() {}

    static PreTokenizer read(@Nullable JsonObject json) {
        if (json == null) {
            return PreTokenizer.NONE;
        }
        return switch (json.choice("type", TYPES)) {
            case "BertPreTokenizer" -> new PreTokenizer.Bert();
            case "Whitespace" -> new PreTokenizer.Whitespace();
            case "WhitespaceSplit" -> new PreTokenizer.WhitespaceSplit();
            case "Punctuation" -> new PreTokenizer.Punctuation(behavior(json));
            case "Sequence" -> sequence(json);
            default -> throw new IllegalStateException("a type without a reader");
        };
    }

    private static Behavior behavior(JsonObject json) {
        if (!json.has("behavior")) {
            return Behavior.ISOLATED;
        }
        return switch (json.choice("behavior", BEHAVIORS)) {
            case "Removed" -> Behavior.REMOVED;
            case "Contiguous" -> Behavior.CONTIGUOUS;
            case "MergedWithPrevious" -> Behavior.MERGED_WITH_PREVIOUS;
            case "MergedWithNext" -> Behavior.MERGED_WITH_NEXT;
            default -> Behavior.ISOLATED;
        };
    }

    private static PreTokenizer sequence(JsonObject json) {
        List<PreTokenizer> steps = new ArrayList<>();
        for (JsonObject step : json.objects("pretokenizers")) {
            steps.add(read(step));
        }
        return new PreTokenizer.Chain(steps);
    }
}
