package dev.tenon.models.embedding;

import dev.tenon.models.tokenizer.Encoding;

/**
 * A text or a part of one, as it goes through the model.
 *
 * @param text the text's index
 * @param from the first token that counts in pooling
 */
record TextPart(int text, Encoding tokens, int from) {
    int size() {
        return tokens.size();
    }

    /** The number of its own tokens, at least 1: its weight among the parts of a text. */
    int weight() {
        int special = 0;
        for (int mask : tokens.specialTokensMask()) {
            special += mask;
        }
        return Math.max(1, tokens.size() - special);
    }
}
