package dev.tenon.models.tokenizer;

import java.util.ArrayList;
import java.util.List;

/** A text cut into added tokens and words, before the model has seen the words. */
final class SplitText {
    private final List<Part> parts = new ArrayList<>();

    void addToken(int id, String token) {
        parts.add(new Added(id, token));
    }

    void addWords(String text, Spans words) {
        parts.add(new Words(text, words));
    }

    /**
     * The tokens, as far as they are wanted: a reader that keeps {@code enough} of them, and cuts at the given end,
     * sees no more words than it needs. It stops after whole words, and never right after an added token; that is how
     * the reference does it, and it shows: how many tokens a pair's texts have before truncation decides how it is
     * shared.
     */
    TokenList tokens(WordPiece model, int enough, Direction cutAt) {
        TokenList out = new TokenList();
        if (cutAt == Direction.RIGHT || enough == Integer.MAX_VALUE) {
            forward(model, enough, out);
        } else {
            backward(model, enough, out);
        }
        return out;
    }

    private void forward(WordPiece model, int enough, TokenList out) {
        for (Part part : parts) {
            if (part instanceof Added added) {
                out.add(added.id, added.token);
            } else if (part instanceof Words words) {
                for (int i = 0; i < words.spans.count(); i++) {
                    words.tokenize(model, i, out);
                    if (out.size() >= enough) {
                        return;
                    }
                }
            }
        }
    }

    /** Counts words from the end to find where to start. */
    private void backward(WordPiece model, int enough, TokenList out) {
        int count = 0;
        TokenList word = new TokenList();
        for (int p = parts.size() - 1; p >= 0; p--) {
            if (!(parts.get(p) instanceof Words words)) {
                count++;
                continue;
            }
            for (int i = words.spans.count() - 1; i >= 0; i--) {
                word.shrink(0);
                words.tokenize(model, i, word);
                count += word.size();
                if (count >= enough) {
                    tail(model, p, i, out);
                    return;
                }
            }
        }
        tail(model, 0, 0, out);
    }

    private void tail(WordPiece model, int firstPart, int firstWord, TokenList out) {
        for (int p = firstPart; p < parts.size(); p++) {
            Part part = parts.get(p);
            if (part instanceof Added added) {
                out.add(added.id, added.token);
            } else if (part instanceof Words words) {
                for (int i = p == firstPart ? firstWord : 0; i < words.spans.count(); i++) {
                    words.tokenize(model, i, out);
                }
            }
        }
    }

    private sealed interface Part {}

    private record Added(int id, String token) implements Part {}

    private record Words(String text, Spans spans) implements Part {
        void tokenize(WordPiece model, int word, TokenList out) {
            model.tokenize(text, spans.start(word), spans.end(word), out);
        }
    }
}
