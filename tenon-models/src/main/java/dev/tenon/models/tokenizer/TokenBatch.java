package dev.tenon.models.tokenizer;

import java.util.ArrayList;
import java.util.List;

/**
 * Encodings of one length, as a model takes them. Immutable and thread-safe.
 *
 * <p>The arrays are row-major, {@code rows() × length()}: one row a text.
 */
public final class TokenBatch {
    private final List<Encoding> encodings;
    private final int length;

    private TokenBatch(List<Encoding> encodings, int length) {
        this.encodings = encodings;
        this.length = length;
    }

    static TokenBatch pad(List<Encoding> encodings, Padding padding) {
        int longest = 0;
        for (Encoding encoding : encodings) {
            longest = Math.max(longest, encoding.size());
        }
        // a fixed length shortens nothing, so the longest rules where it is longer
        int length = encodings.isEmpty() ? 0 : Math.max(longest, padding.target(longest));
        List<Encoding> padded = new ArrayList<>(encodings.size());
        for (Encoding encoding : encodings) {
            padded.add(encoding.padded(length, padding));
        }
        return new TokenBatch(List.copyOf(padded), length);
    }

    /** The number of texts. */
    public int rows() {
        return encodings.size();
    }

    /** The number of tokens of each row, padding included. */
    public int length() {
        return length;
    }

    /** The rows. */
    public List<Encoding> encodings() {
        return encodings;
    }

    /** The ids of all rows. */
    public int[] ids() {
        return flatten(Encoding::copyIds);
    }

    /** The type ids of all rows. */
    public int[] typeIds() {
        return flatten(Encoding::copyTypeIds);
    }

    /** 1 for each token and 0 for padding, of all rows. */
    public int[] attentionMask() {
        return flatten(Encoding::copyAttentionMask);
    }

    private int[] flatten(Copy copy) {
        int[] out = new int[Math.multiplyExact(rows(), length)];
        for (int i = 0; i < rows(); i++) {
            copy.to(encodings.get(i), out, i * length);
        }
        return out;
    }

    private interface Copy {
        void to(Encoding from, int[] out, int offset);
    }

    @Override
    public String toString() {
        return "TokenBatch" + encodings;
    }
}
