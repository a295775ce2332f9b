package dev.tenon.models.tokenizer;

import dev.tenon.core.error.ImportException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The model's tokens and their ids: an immutable hash table that is asked about a range of a text, without a substring.
 *
 * <p>The hash is a polynomial, so that the hashes of all prefixes of a word come from one walk along it.
 */
final class Vocabulary {
    private static final int MULTIPLIER = 0x9E3779B1;
    /**
     * Real vocabularies at half load need some dozens of steps at worst. Tokens chosen to collide would make loading
     * quadratic, so they are refused.
     */
    private static final int MAX_PROBES = 2048;

    private final String[] tokens;
    private final int[] ids;
    private final int[] hashes;
    /** Place in the arrays above plus one; 0 is free. */
    private final int[] slots;

    private final @Nullable String[] byId;
    private final int longest;

    private Vocabulary(Builder builder) {
        tokens = builder.tokens;
        ids = builder.ids;
        hashes = new int[builder.count];
        slots = new int[Math.max(16, Integer.highestOneBit(Math.max(1, builder.count)) << 2)];
        int maxId = -1;
        int maxLength = 0;
        for (int i = 0; i < builder.count; i++) {
            maxId = Math.max(maxId, ids[i]);
            maxLength = Math.max(maxLength, tokens[i].length());
        }
        longest = maxLength;
        if (maxId >= 8L * builder.count + 1024) {
            throw new ImportException("model.vocab has " + builder.count + " tokens, but ids up to " + maxId
                    + ": ids must be close to consecutive, they index the embedding table");
        }
        byId = new @Nullable String[maxId + 1];
        for (int i = 0; i < builder.count; i++) {
            String token = tokens[i];
            insert(i, token);
            String other = byId[ids[i]];
            if (other != null) {
                throw new ImportException(
                        "model.vocab gives id " + ids[i] + " to both '" + other + "' and '" + token + "'");
            }
            byId[ids[i]] = token;
        }
    }

    private void insert(int index, String token) {
        int hash = hash(token);
        hashes[index] = hash;
        int mask = slots.length - 1;
        int slot = slot(hash) & mask;
        for (int probes = 0; slots[slot] != 0; probes++) {
            int other = slots[slot] - 1;
            if (hashes[other] == hash && tokens[other].equals(token)) {
                throw new ImportException("model.vocab has the token '" + token + "' twice");
            }
            if (probes == MAX_PROBES) {
                throw new ImportException("model.vocab has more than " + MAX_PROBES
                        + " tokens of the same hash (the last is '" + token + "'): this is no real vocabulary");
            }
            slot = (slot + 1) & mask;
        }
        slots[slot] = index + 1;
    }

    int size() {
        return hashes.length;
    }

    /** The number of UTF-16 units of the longest token. */
    int longest() {
        return longest;
    }

    @Nullable
    String token(int id) {
        return id >= 0 && id < byId.length ? byId[id] : null;
    }

    /** The id, or -1. */
    int id(String token) {
        return find(hash(token), "", token, 0, token.length());
    }

    static int hash(String text) {
        int hash = 0;
        for (int i = 0; i < text.length(); i++) {
            hash = extend(hash, text.charAt(i));
        }
        return hash;
    }

    /** The hash of a string followed by {@code c}, from the hash of the string. */
    static int extend(int hash, char c) {
        return hash * MULTIPLIER + c + 1;
    }

    private static int slot(int hash) {
        return hash ^ (hash >>> 15);
    }

    /** The id of {@code prefix + text[start, end)}, whose hash is given, or -1. */
    int find(int hash, String prefix, String text, int start, int end) {
        int mask = slots.length - 1;
        int slot = slot(hash) & mask;
        for (int entry = slots[slot]; entry != 0; entry = slots[slot]) {
            if (hashes[entry - 1] == hash) {
                String token = tokens[entry - 1];
                if (token.length() == prefix.length() + end - start
                        && token.startsWith(prefix)
                        && token.regionMatches(prefix.length(), text, start, end - start)) {
                    return ids[entry - 1];
                }
            }
            slot = (slot + 1) & mask;
        }
        return -1;
    }

    /** Collects tokens in any order. */
    static final class Builder {
        private String[] tokens = new String[1 << 15];
        private int[] ids = new int[1 << 15];
        private int count;

        void add(String token, int id) {
            if (count == tokens.length) {
                tokens = Arrays.copyOf(tokens, 2 * count);
                ids = Arrays.copyOf(ids, 2 * count);
            }
            tokens[count] = token;
            ids[count++] = id;
        }

        /** Throws {@link ImportException} if a token or an id is there twice, or ids are far from consecutive. */
        Vocabulary build() {
            return new Vocabulary(this);
        }
    }
}
