package dev.tenon.models.tokenizer;

import java.text.Normalizer.Form;
import java.util.List;

/** A rewrite of the text before it is cut into words. Each is a pure function of well-formed UTF-16. */
sealed interface Normalizer {
    /** Changes nothing. */
    Normalizer NONE = new Chain(List.of());

    String normalize(String text);

    /** One after another. */
    record Chain(List<Normalizer> steps) implements Normalizer {
        public Chain {
            steps = List.copyOf(steps);
        }

        @Override
        public String normalize(String text) {
            String result = text;
            for (Normalizer step : steps) {
                result = step.normalize(result);
            }
            return result;
        }
    }

    /** What BERT's own tokenizer does first; see {@link BertText}. */
    record Bert(boolean cleanText, boolean handleChineseChars, boolean stripAccents, boolean lowercase)
            implements Normalizer {
        @Override
        public String normalize(String text) {
            return BertText.normalize(this, text);
        }
    }

    /** Each character in lower case. */
    record Lowercase() implements Normalizer {
        @Override
        public String normalize(String text) {
            return BertText.lowercase(text);
        }
    }

    /** A Unicode normalisation form. */
    record Unicode(Form form) implements Normalizer {
        @Override
        public String normalize(String text) {
            return UnicodeForm.apply(form, text);
        }
    }

    /** Removes marks; does not decompose, so that {@code é} stays unless NFD came before. */
    record StripAccents() implements Normalizer {
        @Override
        public String normalize(String text) {
            return BertText.remove(text, UnicodeTables.get().mark);
        }
    }

    /** Removes whitespace at the ends. */
    record Strip(boolean left, boolean right) implements Normalizer {
        @Override
        public String normalize(String text) {
            int start = 0;
            int end = text.length();
            while (left && start < end && CodePoints.isWhitespace(text.charAt(start))) {
                start++;
            }
            while (right && end > start && CodePoints.isWhitespace(text.charAt(end - 1))) {
                end--;
            }
            return text.substring(start, end);
        }
    }

    /** Replaces each occurrence of a string, from left to right. */
    record Replace(String pattern, String content) implements Normalizer {
        public Replace {
            if (pattern.isEmpty()) {
                throw new IllegalArgumentException("the pattern is empty");
            }
        }

        @Override
        public String normalize(String text) {
            return text.replace(pattern, content);
        }
    }
}
