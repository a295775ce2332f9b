package dev.tenon.models.tokenizer;

import java.text.Normalizer.Form;

/** The passes of BERT's normaliser. */
final class BertText {
    /** Combining marks start here: below, an accent can only be part of a letter. */
    private static final int FIRST_MARK = 0x300;

    private BertText() {}

    static String normalize(Normalizer.Bert settings, String text) {
        if (isAscii(text)) {
            return normalizeAscii(settings, text);
        }
        String result = text;
        if (settings.cleanText()) {
            result = clean(result);
        }
        if (settings.handleChineseChars()) {
            result = spaceChinese(result);
        }
        if (settings.stripAccents()) {
            result = remove(UnicodeForm.apply(Form.NFD, result), UnicodeTables.get().nonspacingMark);
        }
        return settings.lowercase() ? lowercase(result) : result;
    }

    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) >= 0x80) {
                return false;
            }
        }
        return true;
    }

    /** All passes at once: ASCII has no accents and no Chinese. */
    private static String normalizeAscii(Normalizer.Bert settings, String text) {
        StringBuilder out = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (settings.cleanText()) {
                if (CodePoints.isWhitespace(c)) {
                    // vertical tab and form feed are controls before they are blanks
                    if (c != '\u000B' && c != '\f') {
                        out.append(' ');
                    }
                    continue;
                }
                if (c < ' ' || c == 0x7F) {
                    continue;
                }
            }
            out.append(settings.lowercase() && c >= 'A' && c <= 'Z' ? (char) (c + 0x20) : c);
        }
        return out.toString();
    }

    private static String clean(String text) {
        StringBuilder out = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); ) {
            int cp = text.codePointAt(i);
            i += Character.charCount(cp);
            if (!CodePoints.isRemovedByCleaning(cp)) {
                out.appendCodePoint(CodePoints.isWhitespace(cp) ? ' ' : cp);
            }
        }
        return out.toString();
    }

    private static String spaceChinese(String text) {
        StringBuilder out = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); ) {
            int cp = text.codePointAt(i);
            i += Character.charCount(cp);
            if (CodePoints.isChinese(cp)) {
                out.append(' ').appendCodePoint(cp).append(' ');
            } else {
                out.appendCodePoint(cp);
            }
        }
        return out.toString();
    }

    static String remove(String text, UnicodeRanges unwanted) {
        StringBuilder out = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); ) {
            int cp = text.codePointAt(i);
            i += Character.charCount(cp);
            if (cp < FIRST_MARK || !unwanted.contains(cp)) {
                out.appendCodePoint(cp);
            }
        }
        return out.toString();
    }

    static String lowercase(String text) {
        StringBuilder out = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); ) {
            int cp = text.codePointAt(i);
            i += Character.charCount(cp);
            CodePoints.appendLowerCase(out, cp);
        }
        return out.toString();
    }
}
