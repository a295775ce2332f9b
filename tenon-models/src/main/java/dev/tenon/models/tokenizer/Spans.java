package dev.tenon.models.tokenizer;

import java.util.Arrays;

/** A growing list of non-empty [start, end) ranges of a text, in order. */
final class Spans {
    private int[] bounds = new int[32];
    private int count;

    void add(int start, int end) {
        if (start >= end) {
            return;
        }
        if (2 * count == bounds.length) {
            bounds = Arrays.copyOf(bounds, 2 * bounds.length);
        }
        bounds[2 * count] = start;
        bounds[2 * count + 1] = end;
        count++;
    }

    int count() {
        return count;
    }

    int start(int index) {
        return bounds[2 * index];
    }

    int end(int index) {
        return bounds[2 * index + 1];
    }
}
