package dev.tenon.models.tokenizer;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** The chain from text to ids, around a WordPiece model. */
final class WordPieceTokenizer implements Tokenizer {
    private final AddedVocabulary added;
    private final Normalizer normalizer;
    private final PreTokenizer preTokenizer;
    private final WordPiece model;
    private final PostProcessor postProcessor;
    private final @Nullable WordPieceDecoder decoder;
    private final @Nullable Padding declaredPadding;
    private final Padding padding;
    private final @Nullable Truncation truncation;

    /** A tokenizer as its file describes it. */
    WordPieceTokenizer(
            AddedVocabulary added,
            Normalizer normalizer,
            PreTokenizer preTokenizer,
            WordPiece model,
            PostProcessor postProcessor,
            @Nullable WordPieceDecoder decoder,
            @Nullable Padding declaredPadding,
            @Nullable Truncation truncation) {
        this.added = added;
        this.normalizer = normalizer;
        this.preTokenizer = preTokenizer;
        this.model = model;
        this.postProcessor = postProcessor;
        this.decoder = decoder;
        this.declaredPadding = declaredPadding;
        this.padding = declaredPadding != null ? declaredPadding.toLongest() : defaultPadding(model.vocabulary());
        this.truncation = truncation;
    }

    private WordPieceTokenizer(WordPieceTokenizer from, Padding padding, @Nullable Truncation truncation) {
        this.added = from.added;
        this.normalizer = from.normalizer;
        this.preTokenizer = from.preTokenizer;
        this.model = from.model;
        this.postProcessor = from.postProcessor;
        this.decoder = from.decoder;
        this.declaredPadding = from.declaredPadding;
        this.padding = padding;
        this.truncation = truncation;
    }

    private static Padding defaultPadding(Vocabulary vocabulary) {
        int id = vocabulary.id("[PAD]");
        return new Padding(0, 1, Direction.RIGHT, Math.max(0, id), 0, "[PAD]");
    }

    @Override
    public Encoding encode(String text, boolean specialTokens) {
        return pad(encodeUnpadded(Require.nonNull(text, "text"), null, specialTokens));
    }

    @Override
    public Encoding encode(String first, String second, boolean specialTokens) {
        Require.nonNull(first, "first");
        return pad(encodeUnpadded(first, Require.nonNull(second, "second"), specialTokens));
    }

    @Override
    public TokenBatch encodeBatch(List<String> texts) {
        List<Encoding> encodings = new ArrayList<>();
        for (String text : Require.elements(texts, "texts")) {
            encodings.add(encodeUnpadded(text, null, true));
        }
        return TokenBatch.pad(encodings, padding);
    }

    @Override
    public List<Encoding> encodeParts(String text, int maxLength) {
        Require.nonNull(text, "text");
        int room = maxLength - postProcessor.added(false);
        if (room < 1) {
            throw InputException.of(
                    "maxLength",
                    "parts of " + maxLength + " tokens leave no room beside the " + postProcessor.added(false)
                            + " special tokens");
        }
        TokenList tokens = tokenize(text, Integer.MAX_VALUE, Direction.RIGHT);
        List<Encoding> parts = new ArrayList<>();
        int from = 0;
        do {
            int to = partEnd(tokens, from, room);
            parts.add(postProcessor.process(tokens.slice(from, to), null, true));
            from = to;
        } while (from < tokens.size());
        return parts;
    }

    /**
     * The end of the part that begins at {@code from}: before a word that does not fit, unless the word alone is longer
     * than a part.
     */
    private int partEnd(TokenList tokens, int from, int room) {
        if (tokens.size() - from <= room) {
            return tokens.size();
        }
        int to = from + room;
        while (to > from && model.continues(tokens.token(to))) {
            to--;
        }
        return to == from ? from + room : to;
    }

    private Encoding pad(Encoding encoding) {
        return encoding.padded(padding.target(encoding.size()), padding);
    }

    private Encoding encodeUnpadded(String first, @Nullable String second, boolean specialTokens) {
        if (truncation == null) {
            TokenList secondTokens = second == null ? null : tokenize(second, Integer.MAX_VALUE, Direction.RIGHT);
            return postProcessor.process(
                    tokenize(first, Integer.MAX_VALUE, Direction.RIGHT), secondTokens, specialTokens);
        }
        int special = specialTokens ? postProcessor.added(second != null) : 0;
        int length = truncation.maxLength();
        if (length < special) {
            throw new ImportException("truncation to " + length + " tokens leaves no room for the " + special
                    + " special tokens of a pair");
        }
        // a text that ONLY_SECOND must not shorten has to be seen whole, to be refused
        int enough = truncation.strategy() == Truncation.Strategy.ONLY_SECOND ? Integer.MAX_VALUE : length;
        TokenList firstTokens = tokenize(first, enough, truncation.direction());
        TokenList secondTokens = second == null ? null : tokenize(second, enough, truncation.direction());
        Truncator.truncate(firstTokens, secondTokens, truncation, length - special);
        return postProcessor.process(firstTokens, secondTokens, specialTokens);
    }

    private TokenList tokenize(String text, int enough, Direction cutAt) {
        SplitText split = new SplitText();
        added.splitRaw(CodePoints.wellFormed(text), new AddedVocabulary.Sink() {
            @Override
            public void text(String part) {
                splitPart(normalizer.normalize(part), split);
            }

            @Override
            public void token(int id, String token) {
                split.addToken(id, token);
            }
        });
        return split.tokens(model, enough, cutAt);
    }

    private void splitPart(String part, SplitText split) {
        added.splitNormalized(part, new AddedVocabulary.Sink() {
            @Override
            public void text(String text) {
                Spans words = new Spans();
                preTokenizer.split(text, 0, text.length(), words);
                split.addWords(text, words);
            }

            @Override
            public void token(int id, String token) {
                split.addToken(id, token);
            }
        });
    }

    @Override
    public String decode(int[] ids, boolean skipSpecialTokens) {
        Require.nonNull(ids, "ids");
        List<String> tokens = new ArrayList<>(ids.length);
        for (int id : ids) {
            String token = token(id);
            if (token != null && !(skipSpecialTokens && added.isSpecial(token))) {
                tokens.add(token);
            }
        }
        return decoder == null ? String.join(" ", tokens) : decoder.decode(tokens);
    }

    private @Nullable String token(int id) {
        String token = added.token(id);
        return token != null ? token : model.vocabulary().token(id);
    }

    @Override
    public int vocabularySize() {
        return added.totalSize();
    }

    @Override
    public Optional<String> idToToken(int id) {
        return Optional.ofNullable(token(id));
    }

    @Override
    public OptionalInt tokenToId(String token) {
        int id = added.id(Require.nonNull(token, "token"));
        if (id < 0) {
            id = model.vocabulary().id(token);
        }
        return id < 0 ? OptionalInt.empty() : OptionalInt.of(id);
    }

    @Override
    public Optional<Truncation> truncation() {
        return Optional.ofNullable(truncation);
    }

    @Override
    public Padding padding() {
        return padding;
    }

    @Override
    public Optional<Padding> declaredPadding() {
        return Optional.ofNullable(declaredPadding);
    }

    @Override
    public Tokenizer withTruncation(int maxLength) {
        return withTruncation(truncation == null ? Truncation.to(maxLength) : truncation.withMaxLength(maxLength));
    }

    @Override
    public Tokenizer withTruncation(Truncation rules) {
        Require.nonNull(rules, "rules");
        int special = postProcessor.added(false);
        if (rules.maxLength() < special) {
            throw InputException.of(
                    "maxLength",
                    "maxLength is " + rules.maxLength() + ", less than the " + special + " special tokens");
        }
        return new WordPieceTokenizer(this, padding, rules);
    }

    @Override
    public Tokenizer withoutTruncation() {
        return new WordPieceTokenizer(this, padding, null);
    }

    @Override
    public Tokenizer withPadding(Padding rules) {
        return new WordPieceTokenizer(this, Require.nonNull(rules, "rules"), truncation);
    }
}
