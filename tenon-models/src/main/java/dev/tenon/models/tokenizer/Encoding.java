package dev.tenon.models.tokenizer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A text as token ids, with what a model needs beside them. Immutable and thread-safe: accessors give copies.
 *
 * <p>All arrays, and {@link #tokens()}, have {@link #size()} elements.
 */
public final class Encoding {
    private final int[] ids;
    private final int[] typeIds;
    private final int[] attentionMask;
    private final int[] specialTokensMask;
    private final List<String> tokens;

    /** Takes the arrays over without a copy. */
    Encoding(int[] ids, int[] typeIds, int[] attentionMask, int[] specialTokensMask, List<String> tokens) {
        this.ids = ids;
        this.typeIds = typeIds;
        this.attentionMask = attentionMask;
        this.specialTokensMask = specialTokensMask;
        this.tokens = List.copyOf(tokens);
    }

    /** The number of tokens, special tokens and padding included. */
    public int size() {
        return ids.length;
    }

    /** The tokens' ids. */
    public int[] ids() {
        return ids.clone();
    }

    /** The segment of each token: in BERT 0 for the first text, 1 for the second. */
    public int[] typeIds() {
        return typeIds.clone();
    }

    /** 1 for a token, 0 for padding. */
    public int[] attentionMask() {
        return attentionMask.clone();
    }

    /** 1 for a token that the template or padding added, 0 for a token that came from the text. */
    public int[] specialTokensMask() {
        return specialTokensMask.clone();
    }

    /** The tokens' texts: as in the vocabulary, or for an added token as found in the (normalised) text. */
    public List<String> tokens() {
        return tokens;
    }

    void copyIds(int[] out, int offset) {
        System.arraycopy(ids, 0, out, offset, ids.length);
    }

    void copyTypeIds(int[] out, int offset) {
        System.arraycopy(typeIds, 0, out, offset, typeIds.length);
    }

    void copyAttentionMask(int[] out, int offset) {
        System.arraycopy(attentionMask, 0, out, offset, attentionMask.length);
    }

    /** This encoding with padding up to {@code length} tokens; itself if it has as many. */
    Encoding padded(int length, Padding padding) {
        int add = length - ids.length;
        if (add <= 0) {
            return this;
        }
        int from = padding.direction() == Direction.LEFT ? add : 0;
        String[] texts = new String[length];
        Arrays.fill(texts, padding.token());
        for (int i = 0; i < ids.length; i++) {
            texts[from + i] = tokens.get(i);
        }
        return new Encoding(
                place(ids, from, length, padding.id()),
                place(typeIds, from, length, padding.typeId()),
                place(attentionMask, from, length, 0),
                place(specialTokensMask, from, length, 1),
                List.of(texts));
    }

    private static int[] place(int[] values, int from, int length, int fill) {
        int[] out = new int[length];
        Arrays.fill(out, fill);
        System.arraycopy(values, 0, out, from, values.length);
        return out;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Encoding that
                && Arrays.equals(ids, that.ids)
                && Arrays.equals(typeIds, that.typeIds)
                && Arrays.equals(attentionMask, that.attentionMask)
                && Arrays.equals(specialTokensMask, that.specialTokensMask)
                && tokens.equals(that.tokens);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(ids);
    }

    @Override
    public String toString() {
        return "Encoding" + tokens;
    }

    /** Puts an encoding together from texts and special tokens. */
    static final class Builder {
        private final TokenList list = new TokenList();
        /** For each part the place where it ends, its type id, and 1 if it is special. */
        private final List<int[]> parts = new ArrayList<>();

        void addText(TokenList text, int typeId) {
            for (int i = 0; i < text.size(); i++) {
                list.add(text.id(i), text.token(i));
            }
            parts.add(new int[] {list.size(), typeId, 0});
        }

        void addSpecial(int[] ids, List<String> tokens, int typeId) {
            for (int i = 0; i < ids.length; i++) {
                list.add(ids[i], tokens.get(i));
            }
            parts.add(new int[] {list.size(), typeId, 1});
        }

        Encoding build() {
            int size = list.size();
            int[] typeIds = new int[size];
            int[] special = new int[size];
            int[] attention = new int[size];
            Arrays.fill(attention, 1);
            int from = 0;
            for (int[] part : parts) {
                Arrays.fill(typeIds, from, part[0], part[1]);
                Arrays.fill(special, from, part[0], part[2]);
                from = part[0];
            }
            return new Encoding(list.ids(), typeIds, attention, special, list.tokens());
        }
    }
}
