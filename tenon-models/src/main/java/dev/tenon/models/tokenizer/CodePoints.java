package dev.tenon.models.tokenizer;

/** Questions about single characters, answered as the reference implementation answers them. */
final class CodePoints {
    private CodePoints() {}

    /** The White_Space property. */
    static boolean isWhitespace(int cp) {
        if (cp <= ' ') {
            return cp == ' ' || (cp >= '\t' && cp <= '\r');
        }
        return switch (cp) {
            case 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000 -> true;
            default -> cp >= 0x2000 && cp <= 0x200A;
        };
    }

    /** Whether {@code clean_text} removes the character: controls but for three, NUL and the replacement character. */
    static boolean isRemovedByCleaning(int cp) {
        if (cp < 0x7F) {
            return cp < ' ' && cp != '\t' && cp != '\n' && cp != '\r';
        }
        return cp == 0xFFFD || UnicodeTables.get().control.contains(cp);
    }

    /** ASCII symbols such as {@code $} count as punctuation, other symbols do not. */
    static boolean isPunctuation(int cp) {
        if (cp < 0x80) {
            return (cp >= '!' && cp <= '/')
                    || (cp >= ':' && cp <= '@')
                    || (cp >= '[' && cp <= '`')
                    || (cp >= '{' && cp <= '~');
        }
        return UnicodeTables.get().punctuation.contains(cp);
    }

    /**
     * The blocks that BERT sets apart. Extension E starts at U+2B920 in the reference, 256 characters late; so it does
     * here.
     */
    static boolean isChinese(int cp) {
        return (cp >= 0x4E00 && cp <= 0x9FFF)
                || (cp >= 0x3400 && cp <= 0x4DBF)
                || (cp >= 0xF900 && cp <= 0xFAFF)
                || (cp >= 0x20000 && cp <= 0x2A6DF)
                || (cp >= 0x2A700 && cp <= 0x2B81F)
                || (cp >= 0x2B920 && cp <= 0x2CEAF)
                || (cp >= 0x2F800 && cp <= 0x2FA1F);
    }

    /** {@code \w} of a Unicode regular expression. */
    static boolean isWord(int cp) {
        if (cp < 0x80) {
            return (cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z') || (cp >= '0' && cp <= '9') || cp == '_';
        }
        return switch (Character.getType(cp)) {
            case Character.NON_SPACING_MARK,
                    Character.ENCLOSING_MARK,
                    Character.COMBINING_SPACING_MARK,
                    Character.DECIMAL_DIGIT_NUMBER,
                    Character.CONNECTOR_PUNCTUATION -> true;
            default -> Character.isAlphabetic(cp) || cp == 0x200C || cp == 0x200D;
        };
    }

    /** Appends the lower case of a character, without regard to what is around it (a final sigma is like any other). */
    static void appendLowerCase(StringBuilder out, int cp) {
        if (cp < 0x80) {
            out.append((char) (cp >= 'A' && cp <= 'Z' ? cp + 0x20 : cp));
        } else if (cp == 0x130) {
            out.append("i\u0307");
        } else {
            out.appendCodePoint(lowerCase(cp));
        }
    }

    /** Some capitals are of Unicode 17, which the reference knows and JDK 25 does not. */
    private static int lowerCase(int cp) {
        if (cp == 0xA7CE || cp == 0xA7D2 || cp == 0xA7D4) {
            return cp + 1;
        }
        if (cp >= 0x16EA0 && cp <= 0x16EB8) {
            return cp + 0x1B;
        }
        return Character.toLowerCase(cp);
    }

    /** The text with each lone surrogate replaced by U+FFFD; the same object if there is none. */
    static String wellFormed(String text) {
        int lone = nextLoneSurrogate(text, 0);
        if (lone < 0) {
            return text;
        }
        StringBuilder out = new StringBuilder(text);
        for (; lone >= 0; lone = nextLoneSurrogate(text, lone + 1)) {
            out.setCharAt(lone, '\uFFFD');
        }
        return out.toString();
    }

    private static int nextLoneSurrogate(String text, int from) {
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c)) {
                if (i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    return i;
                }
            } else if (Character.isLowSurrogate(c) && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)))) {
                return i;
            }
        }
        return -1;
    }
}
