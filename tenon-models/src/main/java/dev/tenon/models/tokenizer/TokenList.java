package dev.tenon.models.tokenizer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A growing list of tokens and their ids. */
final class TokenList {
    private int[] ids = new int[16];
    private final List<String> tokens = new ArrayList<>();

    void add(int id, String token) {
        int size = tokens.size();
        if (size == ids.length) {
            ids = Arrays.copyOf(ids, 2 * size);
        }
        ids[size] = id;
        tokens.add(token);
    }

    int size() {
        return tokens.size();
    }

    int id(int index) {
        return ids[index];
    }

    int[] ids() {
        return Arrays.copyOf(ids, size());
    }

    List<String> tokens() {
        return tokens;
    }

    String token(int index) {
        return tokens.get(index);
    }

    /** A copy of the tokens from {@code from}, inclusive, to {@code to}, exclusive. */
    TokenList slice(int from, int to) {
        TokenList slice = new TokenList();
        for (int i = from; i < to; i++) {
            slice.add(ids[i], tokens.get(i));
        }
        return slice;
    }

    /** Drops all tokens from {@code size} on. */
    void shrink(int size) {
        tokens.subList(size, tokens.size()).clear();
    }

    /** Keeps {@code length} tokens and drops the others from the given end. */
    void truncate(int length, Direction cutAt) {
        int over = size() - length;
        if (over <= 0) {
            return;
        }
        if (cutAt == Direction.LEFT) {
            System.arraycopy(ids, over, ids, 0, length);
            tokens.subList(0, over).clear();
        } else {
            shrink(length);
        }
    }
}
