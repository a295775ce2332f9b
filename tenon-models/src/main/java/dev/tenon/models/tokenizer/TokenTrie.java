package dev.tenon.models.tokenizer;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds the longest of a set of tokens at a place in a text. Not changed once it is in use. */
final class TokenTrie {
    private final BitSet firstChars = new BitSet();
    /** {@code node << 16 | char} to the next node; node 0 is the root. */
    private final Map<Long, Integer> edges = new HashMap<>();

    private final List<@Nullable AddedToken> ends = new ArrayList<>();

    TokenTrie() {
        ends.add(null);
    }

    /** Of two tokens with the same text the first stays; an empty text is never found. */
    void put(String text, AddedToken token) {
        if (text.isEmpty()) {
            return;
        }
        firstChars.set(text.charAt(0));
        int node = 0;
        for (int i = 0; i < text.length(); i++) {
            long edge = edge(node, text.charAt(i));
            Integer next = edges.get(edge);
            if (next == null) {
                next = ends.size();
                ends.add(null);
                edges.put(edge, next);
            }
            node = next;
        }
        if (ends.get(node) == null) {
            ends.set(node, token);
        }
    }

    /** The first match at or after {@code from}, or null. */
    @Nullable
    Match find(String text, int from) {
        if (edges.isEmpty()) {
            return null;
        }
        for (int start = from; start < text.length(); start++) {
            if (firstChars.get(text.charAt(start))) {
                Match match = longestAt(text, start);
                if (match != null) {
                    return match;
                }
            }
        }
        return null;
    }

    private @Nullable Match longestAt(String text, int start) {
        Match match = null;
        int node = 0;
        for (int i = start; i < text.length(); i++) {
            Integer next = edges.get(edge(node, text.charAt(i)));
            if (next == null) {
                break;
            }
            node = next;
            AddedToken token = ends.get(node);
            if (token != null) {
                match = new Match(token, start, i + 1);
            }
        }
        return match;
    }

    private static long edge(int node, char c) {
        return (long) node << 16 | c;
    }

    record Match(AddedToken token, int start, int end) {}
}
