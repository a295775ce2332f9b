package dev.tenon.models.tokenizer;

import java.text.Normalizer.Form;

/** Unicode normalisation forms, with the reference's tables rather than the JDK's newer ones. */
final class UnicodeForm {
    /** Below these, no character is changed by, or takes part in, the form. */
    private static final int FIRST_DECOMPOSED = 0xC0;

    private static final int FIRST_COMPOSED = 0x300;
    private static final int FIRST_COMPATIBILITY = 0xA0;
    /** The first character that the reference does not know. */
    private static final int FIRST_NEWER = 0x7FD;

    private UnicodeForm() {}

    /** The text in the form; the same object if that is plain to see. */
    static String apply(Form form, String text) {
        int first = switch (form) {
            case NFD -> FIRST_DECOMPOSED;
            case NFC -> FIRST_COMPOSED;
            case NFKD, NFKC -> FIRST_COMPATIBILITY;
        };
        int max = 0;
        for (int i = 0; i < text.length(); i++) {
            max = Math.max(max, text.charAt(i));
        }
        if (max < first) {
            return text;
        }
        return max < FIRST_NEWER ? java.text.Normalizer.normalize(text, form) : betweenNewer(form, text);
    }

    /** To the reference a newer character is unassigned: it stays, and nothing is reordered or composed across it. */
    private static String betweenNewer(Form form, String text) {
        UnicodeRanges newer = form == Form.NFD || form == Form.NFC
                ? UnicodeTables.get().newerThanCanonical
                : UnicodeTables.get().newerThanCompatibility;
        StringBuilder out = new StringBuilder(text.length() + 16);
        int start = 0;
        for (int i = 0; i < text.length(); ) {
            int cp = text.codePointAt(i);
            int next = i + Character.charCount(cp);
            if (cp >= FIRST_NEWER && newer.contains(cp)) {
                out.append(java.text.Normalizer.normalize(text.subSequence(start, i), form));
                out.append(text, i, next);
                start = next;
            }
            i = next;
        }
        if (start == 0) {
            return java.text.Normalizer.normalize(text, form);
        }
        return out.append(java.text.Normalizer.normalize(text.subSequence(start, text.length()), form))
                .toString();
    }
}
