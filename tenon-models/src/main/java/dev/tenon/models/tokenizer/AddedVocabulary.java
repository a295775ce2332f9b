package dev.tenon.models.tokenizer;

import dev.tenon.core.error.ImportException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The added tokens, and the splitting of texts at them. Immutable once built. */
final class AddedVocabulary {
    private final TokenTrie raw = new TokenTrie();
    private final TokenTrie normalized = new TokenTrie();
    private final Map<String, Integer> idOf = new HashMap<>();
    private final Map<Integer, String> textOf = new HashMap<>();
    private final Set<String> special = new HashSet<>();
    private final int size;

    /** Throws {@link ImportException} for an id that is not the token's own. */
    AddedVocabulary(List<AddedToken> tokens, Vocabulary model, Normalizer normalizer) {
        int next = model.size();
        int beyondModel = 0;
        Map<String, AddedToken> seen = new HashMap<>();
        for (AddedToken token : tokens) {
            if (token.content().isEmpty()) {
                continue;
            }
            AddedToken before = seen.putIfAbsent(token.content(), token);
            if (before != null) {
                if (before.equals(token)) {
                    continue;
                }
                throw new ImportException(
                        "added_tokens: '" + token.content() + "' is there twice, with different settings");
            }
            int known = model.id(token.content());
            int expected = known >= 0 ? known : next;
            if (token.id() != expected) {
                throw new ImportException("added_tokens: '" + token.content() + "' has id " + token.id() + ", but "
                        + (known >= 0 ? "it is already known by id " : "the next free id is ") + expected);
            }
            if (known < 0) {
                next++;
                beyondModel++;
            }
            idOf.put(token.content(), token.id());
            String text = token.normalized() ? normalizer.normalize(token.content()) : token.content();
            // the reference gives the normalised text back, so that decoding "[New]" may say "[new]"
            textOf.put(token.id(), text);
            if (token.special()) {
                special.add(token.content());
            }
        }
        size = model.size() + beyondModel;
        // of two tokens of the same text the special one wins, then the one that comes first
        put(tokens, true, normalizer);
        put(tokens, false, normalizer);
    }

    private void put(List<AddedToken> tokens, boolean specialOnes, Normalizer normalizer) {
        for (AddedToken token : tokens) {
            if (token.special() != specialOnes || token.content().isEmpty()) {
                continue;
            }
            if (token.normalized()) {
                normalized.put(normalizer.normalize(token.content()), token);
            } else {
                raw.put(token.content(), token);
            }
        }
    }

    /** The number of tokens of the model and of those added to them. */
    int totalSize() {
        return size;
    }

    /** The id of an added token, or -1. */
    int id(String token) {
        return idOf.getOrDefault(token, -1);
    }

    /** The text of an added token, or null. */
    @Nullable
    String token(int id) {
        return textOf.get(id);
    }

    boolean isSpecial(String token) {
        return special.contains(token);
    }

    /** Splits a text at the added tokens that are looked for before normalisation. */
    void splitRaw(String text, Sink sink) {
        split(raw, text, sink);
    }

    /** Splits a normalised text at the added tokens that are looked for after normalisation. */
    void splitNormalized(String text, Sink sink) {
        split(normalized, text, sink);
    }

    private static void split(TokenTrie trie, String text, Sink sink) {
        int done = 0;
        TokenTrie.Match match = trie.find(text, 0);
        for (; match != null; match = trie.find(text, match.end())) {
            AddedToken token = match.token();
            int start = match.start();
            int end = match.end();
            if (token.singleWord() && !standsAlone(text, start, end)) {
                continue;
            }
            if (token.lstrip()) {
                start = Math.max(blankBefore(text, start), done);
            }
            if (token.rstrip()) {
                end = blankAfter(text, end);
            }
            if (done < start) {
                sink.text(text.substring(done, start));
            }
            sink.token(token.id(), text.substring(start, end));
            done = end;
        }
        if (done < text.length()) {
            sink.text(done == 0 ? text : text.substring(done));
        }
    }

    private static boolean standsAlone(String text, int start, int end) {
        return (start == 0 || !CodePoints.isWord(text.codePointBefore(start)))
                && (end == text.length() || !CodePoints.isWord(text.codePointAt(end)));
    }

    private static int blankBefore(String text, int start) {
        int at = start;
        while (at > 0 && CodePoints.isWhitespace(text.charAt(at - 1))) {
            at--;
        }
        return at;
    }

    private static int blankAfter(String text, int end) {
        int at = end;
        while (at < text.length() && CodePoints.isWhitespace(text.charAt(at))) {
            at++;
        }
        return at;
    }

    /** Takes the parts of a text in order. */
    interface Sink {
        void text(String text);

        void token(int id, String text);
    }
}
