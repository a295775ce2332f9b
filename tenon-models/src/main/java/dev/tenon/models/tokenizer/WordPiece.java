package dev.tenon.models.tokenizer;

import dev.tenon.core.error.ImportException;
import org.jspecify.annotations.Nullable;

/**
 * The WordPiece model: a word is its longest prefix in the vocabulary, then the longest continuation, and so on; one
 * unknown token stands for a word that cannot be made up so, or that is too long.
 */
final class WordPiece {
    private final Vocabulary vocabulary;
    private final String unknownToken;
    private final int unknownId;
    private final String prefix;
    private final int prefixHash;
    private final int maxWordLength;

    /**
     * @param unknownToken the token for words that cannot be split; must be in the vocabulary
     * @param prefix what continuations start with in the vocabulary, {@code ##} in BERT's
     * @param maxWordLength in code points
     */
    WordPiece(Vocabulary vocabulary, String unknownToken, String prefix, int maxWordLength) {
        this.vocabulary = vocabulary;
        this.unknownToken = unknownToken;
        this.unknownId = vocabulary.id(unknownToken);
        this.prefix = prefix;
        this.prefixHash = Vocabulary.hash(prefix);
        this.maxWordLength = maxWordLength;
        if (unknownId < 0) {
            throw new ImportException("model.unk_token '" + unknownToken + "' is not in model.vocab");
        }
    }

    /** Whether a token goes on with the word of the token before it. */
    boolean continues(String token) {
        return !prefix.isEmpty() && token.startsWith(prefix);
    }

    Vocabulary vocabulary() {
        return vocabulary;
    }

    /** Appends the pieces of the word {@code text[start, end)}. */
    void tokenize(String text, int start, int end, TokenList out) {
        int mark = out.size();
        if (tooLong(text, start, end)) {
            out.add(unknownId, unknownToken);
            return;
        }
        for (int at = start; at < end; ) {
            int next = piece(text, at, end, at > start, out);
            if (next < 0) {
                out.shrink(mark);
                out.add(unknownId, unknownToken);
                return;
            }
            at = next;
        }
    }

    private boolean tooLong(String text, int start, int end) {
        return end - start > maxWordLength && text.codePointCount(start, end) > maxWordLength;
    }

    /** Appends the longest piece that starts at {@code start}, and tells where it ends; -1 if there is none. */
    private int piece(String text, int start, int end, boolean continuation, TokenList out) {
        String before = continuation ? prefix : "";
        int hash = continuation ? prefixHash : 0;
        int limit = Math.min(end, start + vocabulary.longest());
        int found = -1;
        int foundEnd = -1;
        for (int i = start; i < limit; i++) {
            char c = text.charAt(i);
            hash = Vocabulary.extend(hash, c);
            if (Character.isHighSurrogate(c)) {
                continue;
            }
            int id = vocabulary.find(hash, before, text, start, i + 1);
            if (id >= 0) {
                found = id;
                foundEnd = i + 1;
            }
        }
        @Nullable String token = vocabulary.token(found);
        if (token != null) {
            out.add(found, token);
        }
        return foundEnd;
    }
}
