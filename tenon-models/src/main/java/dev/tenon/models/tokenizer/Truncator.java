package dev.tenon.models.tokenizer;

import dev.tenon.core.error.ImportException;
import org.jspecify.annotations.Nullable;

/** Shortens the tokens of a text or a pair of texts. */
final class Truncator {
    private Truncator() {}

    /**
     * Shortens in place until there are no more than {@code room} tokens.
     *
     * @param room the truncation's length less the special tokens; may be 0
     */
    static void truncate(TokenList first, @Nullable TokenList second, Truncation rules, int room) {
        int total = first.size() + (second == null ? 0 : second.size());
        if (total <= room) {
            return;
        }
        if (room == 0) {
            first.shrink(0);
            if (second != null) {
                second.shrink(0);
            }
            return;
        }
        switch (rules.strategy()) {
            case LONGEST_FIRST -> longestFirst(first, second, rules.direction(), room);
            case ONLY_FIRST -> only(first, total - room, rules);
            case ONLY_SECOND -> {
                if (second == null) {
                    throw new ImportException("the text has " + total + " tokens where " + room
                            + " fit, and truncation ONLY_SECOND cannot shorten a text that has no second");
                }
                only(second, total - room, rules);
            }
        }
    }

    private static void only(TokenList tokens, int over, Truncation rules) {
        if (tokens.size() <= over) {
            throw new ImportException("truncation " + rules.strategy() + " must remove " + over
                    + " tokens from a text that has " + tokens.size());
        }
        tokens.truncate(tokens.size() - over, rules.direction());
    }

    /**
     * The shorter text stays whole if it can; otherwise both get half, and the longer, or else the second, the odd one.
     */
    private static void longestFirst(TokenList first, @Nullable TokenList second, Direction direction, int room) {
        if (second == null) {
            first.truncate(room, direction);
            return;
        }
        boolean firstIsLonger = first.size() > second.size();
        int shorter = Math.min(first.size(), second.size());
        int longer = Math.max(shorter, room - shorter);
        if (shorter + longer > room) {
            shorter = room / 2;
            longer = shorter + room % 2;
        }
        first.truncate(firstIsLonger ? longer : shorter, direction);
        second.truncate(firstIsLonger ? shorter : longer, direction);
    }
}
