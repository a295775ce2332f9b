package dev.tenon.models.tokenizer;

import dev.tenon.formats.json.JsonObject;
import dev.tenon.models.tokenizer.PostProcessor.Piece;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the {@code post_processor} section. */
final class PostProcessorReader {
    private static final List<String> TYPES = List.of("TemplateProcessing", "BertProcessing");

    private PostProcessorReader() {}

    static PostProcessor read(@Nullable JsonObject json) {
        if (json == null) {
            return PostProcessor.NONE;
        }
        return switch (json.choice("type", TYPES)) {
            case "TemplateProcessing" ->
                new PostProcessor(template(json, "single", false), template(json, "pair", true));
            case "BertProcessing" -> bert(json);
            default -> throw new IllegalStateException("a type without a reader");
        };
    }

    private static PostProcessor bert(JsonObject json) {
        return PostProcessor.bert(
                tokenText(json, "cls"), tokenId(json, "cls"), tokenText(json, "sep"), tokenId(json, "sep"));
    }

    private static String tokenText(JsonObject json, String field) {
        List<Object> pair = json.array(field);
        if (pair.size() == 2 && pair.getFirst() instanceof String text) {
            return text;
        }
        throw json.error(field, "must be an array of a token and its id");
    }

    private static int tokenId(JsonObject json, String field) {
        List<Object> pair = json.array(field);
        if (pair.size() == 2 && pair.getLast() instanceof Long id && id >= 0 && id <= Integer.MAX_VALUE) {
            return id.intValue();
        }
        throw json.error(field, "must be an array of a token and its id");
    }

    private static List<Piece> template(JsonObject json, String field, boolean isPair) {
        List<Piece> pieces = new ArrayList<>();
        for (JsonObject piece : json.objects(field)) {
            if (piece.has("Sequence")) {
                pieces.add(text(piece.object("Sequence"), isPair));
            } else if (piece.has("SpecialToken")) {
                pieces.add(special(piece.object("SpecialToken"), json.object("special_tokens")));
            } else {
                throw piece.error("", "has neither 'Sequence' nor 'SpecialToken'");
            }
        }
        return pieces;
    }

    private static Piece text(JsonObject json, boolean isPair) {
        String id = json.choice("id", isPair ? List.of("A", "B") : List.of("A"));
        return new PostProcessor.Text(id.equals("B"), json.integer("type_id", 0));
    }

    private static Piece special(JsonObject json, JsonObject specialTokens) {
        JsonObject token = specialTokens.object(json.string("id"));
        int[] ids = token.ids("ids");
        List<String> texts = token.strings("tokens");
        if (ids.length != texts.size()) {
            throw token.error("", "has " + ids.length + " ids, but " + texts.size() + " tokens");
        }
        return new PostProcessor.Special(ids, texts, json.integer("type_id", 0));
    }
}
