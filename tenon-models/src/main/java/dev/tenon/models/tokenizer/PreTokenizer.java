package dev.tenon.models.tokenizer;

import java.util.List;

/** A cut of normalised text into words; the model never joins what is cut here. */
sealed interface PreTokenizer {
    /** Cuts nothing. */
    PreTokenizer NONE = new Chain(List.of());

    /** Adds the words of {@code text[start, end)} to {@code words}. */
    void split(String text, int start, int end, Spans words);

    /** One after another, each on the pieces that the one before left. */
    record Chain(List<PreTokenizer> steps) implements PreTokenizer {
        public Chain {
            steps = List.copyOf(steps);
        }

        @Override
        public void split(String text, int start, int end, Spans words) {
            Spans pieces = new Spans();
            pieces.add(start, end);
            for (PreTokenizer step : steps) {
                Spans next = new Spans();
                for (int i = 0; i < pieces.count(); i++) {
                    step.split(text, pieces.start(i), pieces.end(i), next);
                }
                pieces = next;
            }
            for (int i = 0; i < pieces.count(); i++) {
                words.add(pieces.start(i), pieces.end(i));
            }
        }
    }

    /** At whitespace, which goes, and around each punctuation character, which stays. */
    record Bert() implements PreTokenizer {
        @Override
        public void split(String text, int start, int end, Spans words) {
            int wordStart = start;
            for (int i = start; i < end; ) {
                int cp = text.codePointAt(i);
                int next = i + Character.charCount(cp);
                boolean blank = CodePoints.isWhitespace(cp);
                if (blank || CodePoints.isPunctuation(cp)) {
                    words.add(wordStart, i);
                    if (!blank) {
                        words.add(i, next);
                    }
                    wordStart = next;
                }
                i = next;
            }
            words.add(wordStart, end);
        }
    }

    /** At whitespace, which goes. */
    record WhitespaceSplit() implements PreTokenizer {
        @Override
        public void split(String text, int start, int end, Spans words) {
            int wordStart = start;
            for (int i = start; i < end; i++) {
                if (CodePoints.isWhitespace(text.charAt(i))) {
                    words.add(wordStart, i);
                    wordStart = i + 1;
                }
            }
            words.add(wordStart, end);
        }
    }

    /** Runs of word characters, and runs of what is neither that nor whitespace: {@code \w+|[^\w\s]+}. */
    record Whitespace() implements PreTokenizer {
        private static final int BLANK = 0;
        private static final int WORD = 1;
        private static final int OTHER = 2;

        @Override
        public void split(String text, int start, int end, Spans words) {
            int runStart = start;
            int runKind = BLANK;
            for (int i = start; i < end; ) {
                int cp = text.codePointAt(i);
                int kind = CodePoints.isWhitespace(cp) ? BLANK : CodePoints.isWord(cp) ? WORD : OTHER;
                if (kind != runKind) {
                    if (runKind != BLANK) {
                        words.add(runStart, i);
                    }
                    runStart = i;
                    runKind = kind;
                }
                i += Character.charCount(cp);
            }
            if (runKind != BLANK) {
                words.add(runStart, end);
            }
        }
    }

    /** At punctuation. */
    record Punctuation(Behavior behavior) implements PreTokenizer {
        /** Where the punctuation goes. */
        enum Behavior {
            REMOVED,
            ISOLATED,
            CONTIGUOUS,
            MERGED_WITH_PREVIOUS,
            MERGED_WITH_NEXT
        }

        @Override
        public void split(String text, int start, int end, Spans words) {
            int pieceStart = start;
            boolean afterMark = false;
            for (int i = start; i < end; ) {
                int cp = text.codePointAt(i);
                int next = i + Character.charCount(cp);
                boolean mark = CodePoints.isPunctuation(cp);
                switch (behavior) {
                    case REMOVED -> {
                        if (mark) {
                            words.add(pieceStart, i);
                            pieceStart = next;
                        }
                    }
                    case ISOLATED -> {
                        if (mark) {
                            words.add(pieceStart, i);
                            words.add(i, next);
                            pieceStart = next;
                        }
                    }
                    case CONTIGUOUS -> {
                        if (mark != afterMark) {
                            words.add(pieceStart, i);
                            pieceStart = i;
                        }
                    }
                    case MERGED_WITH_PREVIOUS -> {
                        if (mark) {
                            words.add(pieceStart, next);
                            pieceStart = next;
                        }
                    }
                    case MERGED_WITH_NEXT -> {
                        if (mark) {
                            words.add(pieceStart, i);
                            pieceStart = i;
                        }
                    }
                }
                afterMark = mark;
                i = next;
            }
            words.add(pieceStart, end);
        }
    }
}
