package dev.tenon.models.tokenizer;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;

/**
 * How encodings that are too long are shortened.
 *
 * @param maxLength the most tokens an encoding may have, special tokens included; at least 1
 * @param strategy which sequence of a pair is shortened
 * @param direction the end that is cut off
 */
public record Truncation(int maxLength, Strategy strategy, Direction direction) {
    public Truncation {
        if (maxLength < 1) {
            throw InputException.of("maxLength", "argument \"maxLength\" is " + maxLength + "; expected 1 or more");
        }
        Require.nonNull(strategy, "strategy");
        Require.nonNull(direction, "direction");
    }

    /** At most {@code maxLength} tokens, the longest sequence shortened first, at its right end. */
    public static Truncation to(int maxLength) {
        return new Truncation(maxLength, Strategy.LONGEST_FIRST, Direction.RIGHT);
    }

    /** The same rules with another length. */
    public Truncation withMaxLength(int newMaxLength) {
        return new Truncation(newMaxLength, strategy, direction);
    }

    /** Which sequence of a pair is shortened; a text on its own is the first. */
    public enum Strategy {
        LONGEST_FIRST,
        ONLY_FIRST,
        ONLY_SECOND
    }
}
