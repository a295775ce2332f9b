package dev.tenon.models.embedding;

import dev.tenon.core.error.InputException;
import dev.tenon.models.tokenizer.Direction;
import dev.tenon.models.tokenizer.Encoding;
import dev.tenon.models.tokenizer.Tokenizer;
import dev.tenon.models.tokenizer.Truncation;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Texts to tokens within the model's limit. Immutable and thread-safe. */
final class TextEncoder {
    private final Tokenizer within;
    private final Tokenizer beyond;
    private final LongTexts longTexts;
    private final EncoderSetup setup;
    private final int[] blank;
    private final int from;

    /** @throws InputException when the prompt leaves no room, or the limit none for the special tokens */
    TextEncoder(Tokenizer tokenizer, EncoderSetup setup, LongTexts longTexts) {
        this.longTexts = longTexts;
        this.setup = setup;
        int limit = setup.maxTokens();
        Direction direction = tokenizer.truncation().map(Truncation::direction).orElse(Direction.RIGHT);
        int special = tokenizer.withoutTruncation().encode("").size();
        if (limit <= special) {
            throw new InputException("at most " + limit + " tokens leave no room beside the " + special
                    + " special tokens of each text");
        }
        within = tokenizer.withTruncation(new Truncation(limit, Truncation.Strategy.LONGEST_FIRST, direction));
        // one more token tells that a text does not fit, whatever its length
        beyond = tokenizer.withTruncation(new Truncation(limit + 1, Truncation.Strategy.LONGEST_FIRST, direction));
        Encoding prompt = tokenizer.withoutTruncation().encode(lowercase(setup.prompt()));
        if (prompt.size() >= limit) {
            throw new InputException(
                    "the prompt has " + prompt.size() + " tokens with the special ones, which leave no room"
                            + " for a text where " + limit + " are the most");
        }
        blank = prompt.ids();
        from = setup.poolsPrompt() || setup.prompt().isEmpty() ? 0 : prompt.size() - trailingSpecial(prompt);
    }

    private static int trailingSpecial(Encoding encoding) {
        int[] mask = encoding.specialTokensMask();
        int count = 0;
        while (count < mask.length && mask[mask.length - 1 - count] == 1) {
            count++;
        }
        return count;
    }

    private String lowercase(String text) {
        return setup.lowercase() ? text.toLowerCase(Locale.ROOT) : text;
    }

    /**
     * Adds a text's parts.
     *
     * @param number the text's place among all texts, for messages
     * @return whether the text was cut
     * @throws InputException when the text has no tokens
     */
    boolean encode(int index, long number, String text, List<TextPart> parts) {
        String prompted = lowercase(setup.prompt().concat(text));
        Encoding tokens = beyond.encode(prompted);
        if (Arrays.equals(tokens.ids(), blank)) {
            throw new InputException("the text at index " + number
                    + " (the first is 0) is blank, and a text without tokens has no embedding; leave it out");
        }
        if (tokens.size() <= setup.maxTokens()) {
            parts.add(new TextPart(index, tokens, from));
            return false;
        }
        if (longTexts == LongTexts.CUT) {
            parts.add(new TextPart(index, within.encode(prompted), from));
            return true;
        }
        int start = from;
        for (Encoding part : within.encodeParts(prompted, setup.maxTokens())) {
            parts.add(new TextPart(index, part, start));
            start = 0;
        }
        return false;
    }
}
