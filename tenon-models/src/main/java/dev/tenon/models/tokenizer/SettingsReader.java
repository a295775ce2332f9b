package dev.tenon.models.tokenizer;

import dev.tenon.formats.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the small sections: {@code truncation}, {@code padding}, {@code added_tokens} and {@code decoder}. */
final class SettingsReader {
    private SettingsReader() {}

    static @Nullable Truncation truncation(@Nullable JsonObject json) {
        if (json == null) {
            return null;
        }
        // the stride only matters to overflowing parts, which are not kept; it must be there as in the reference
        json.integer("stride", 0);
        Truncation.Strategy strategy =
                switch (json.choice("strategy", List.of("LongestFirst", "OnlyFirst", "OnlySecond"))) {
                    case "OnlyFirst" -> Truncation.Strategy.ONLY_FIRST;
                    case "OnlySecond" -> Truncation.Strategy.ONLY_SECOND;
                    default -> Truncation.Strategy.LONGEST_FIRST;
                };
        return new Truncation(json.integer("max_length", 1), strategy, direction(json));
    }

    static @Nullable Padding padding(@Nullable JsonObject json) {
        if (json == null) {
            return null;
        }
        int multiple = json.has("pad_to_multiple_of") ? json.integer("pad_to_multiple_of", 0) : 1;
        JsonObject fixed = null;
        if (json.isObject("strategy")) {
            fixed = json.object("strategy");
        } else {
            json.choice("strategy", List.of("BatchLongest"));
        }
        int length = fixed == null ? 0 : fixed.integer("Fixed", 0);
        if (length > Padding.MAX_LENGTH || multiple > Padding.MAX_LENGTH) {
            throw json.error("", "pads to more than " + Padding.MAX_LENGTH + " tokens");
        }
        return new Padding(
                length,
                multiple,
                direction(json),
                json.integer("pad_id", 0),
                json.integer("pad_type_id", 0),
                json.string("pad_token"));
    }

    private static Direction direction(JsonObject json) {
        if (!json.has("direction")) {
            return Direction.RIGHT;
        }
        return json.choice("direction", List.of("Left", "Right")).equals("Left") ? Direction.LEFT : Direction.RIGHT;
    }

    static List<AddedToken> addedTokens(JsonObject root) {
        List<AddedToken> tokens = new ArrayList<>();
        if (root.has("added_tokens")) {
            for (JsonObject json : root.objects("added_tokens")) {
                tokens.add(new AddedToken(
                        json.integer("id", 0),
                        json.string("content"),
                        json.bool("single_word"),
                        json.bool("lstrip"),
                        json.bool("rstrip"),
                        json.bool("normalized"),
                        json.bool("special")));
            }
        }
        return tokens;
    }

    static @Nullable WordPieceDecoder decoder(@Nullable JsonObject json) {
        if (json == null) {
            return null;
        }
        json.choice("type", List.of("WordPiece"));
        return new WordPieceDecoder(json.string("prefix"), json.bool("cleanup"));
    }
}
