package dev.tenon.models.tokenizer;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Puts special tokens around one text or a pair of texts. */
record PostProcessor(List<Piece> single, List<Piece> pair) {
    /** Adds nothing. */
    static final PostProcessor NONE =
            new PostProcessor(List.of(new Text(false, 0)), List.of(new Text(false, 0), new Text(true, 1)));

    PostProcessor {
        single = List.copyOf(single);
        pair = List.copyOf(pair);
    }

    /** {@code [CLS] A [SEP]} and {@code [CLS] A [SEP] B [SEP]}. */
    static PostProcessor bert(String cls, int clsId, String sep, int sepId) {
        Piece first = new Special(new int[] {clsId}, List.of(cls), 0);
        Piece end = new Special(new int[] {sepId}, List.of(sep), 0);
        Piece pairEnd = new Special(new int[] {sepId}, List.of(sep), 1);
        Piece a = new Text(false, 0);
        return new PostProcessor(List.of(first, a, end), List.of(first, a, end, new Text(true, 1), pairEnd));
    }

    /** The number of special tokens that are added. */
    int added(boolean isPair) {
        int count = 0;
        for (Piece piece : isPair ? pair : single) {
            count += piece instanceof Special special ? special.ids.length : 0;
        }
        return count;
    }

    /** The encoding of one text ({@code second} is null) or two. */
    Encoding process(TokenList first, @Nullable TokenList second, boolean specialTokens) {
        Encoding.Builder out = new Encoding.Builder();
        for (Piece piece : second == null ? single : pair) {
            if (piece instanceof Text text) {
                out.addText(text.of(first, second), text.typeId);
            } else if (piece instanceof Special special && specialTokens) {
                out.addSpecial(special.ids, special.tokens, special.typeId);
            }
        }
        return out.build();
    }

    /** A part of a template. */
    sealed interface Piece {}

    /** The tokens of the first or second text. */
    record Text(boolean second, int typeId) implements Piece {
        private TokenList of(TokenList firstTokens, @Nullable TokenList secondTokens) {
            if (!second) {
                return firstTokens;
            }
            if (secondTokens == null) {
                throw new IllegalStateException("the template for one text asks for a second");
            }
            return secondTokens;
        }
    }

    /** Tokens that are always the same. */
    static final class Special implements Piece {
        private final int[] ids;
        private final List<String> tokens;
        private final int typeId;

        Special(int[] ids, List<String> tokens, int typeId) {
            this.ids = ids.clone();
            this.tokens = List.copyOf(tokens);
            this.typeId = typeId;
        }
    }
}
