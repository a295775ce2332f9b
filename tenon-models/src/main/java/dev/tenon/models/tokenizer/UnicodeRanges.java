package dev.tenon.models.tokenizer;

import java.util.Arrays;

/** An immutable set of code points, kept as sorted range bounds. */
final class UnicodeRanges {
    /** start, end, start, end …; ends are exclusive. */
    private final int[] bounds;

    private UnicodeRanges(int[] bounds) {
        this.bounds = bounds;
    }

    /**
     * Reads ranges in base 36, separated by blanks: {@code gap} or {@code gap+extra}, where {@code gap} counts from the
     * end of the range before and {@code extra} is the number of code points after the first.
     */
    static UnicodeRanges parse(String text) {
        int[] bounds = new int[64];
        int count = 0;
        int end = 0;
        int i = 0;
        while (i < text.length()) {
            int number = 0;
            int extra = 0;
            char c = ' ';
            for (; i < text.length() && (c = text.charAt(i)) > ' ' && c != '+'; i++) {
                number = number * 36 + Character.digit(c, 36);
            }
            if (c == '+') {
                for (i++; i < text.length() && (c = text.charAt(i)) > ' '; i++) {
                    extra = extra * 36 + Character.digit(c, 36);
                }
            }
            while (i < text.length() && text.charAt(i) <= ' ') {
                i++;
            }
            if (count == bounds.length) {
                bounds = Arrays.copyOf(bounds, count * 2);
            }
            bounds[count++] = end + number;
            end += number + extra + 1;
            bounds[count++] = end;
        }
        return new UnicodeRanges(Arrays.copyOf(bounds, count));
    }

    boolean contains(int codePoint) {
        int found = Arrays.binarySearch(bounds, codePoint);
        // a start is at an even place; between two bounds, -(insertion point) - 1 is even just after a start
        return (found & 1) == 0;
    }

    int size() {
        int size = 0;
        for (int i = 0; i < bounds.length; i += 2) {
            size += bounds[i + 1] - bounds[i];
        }
        return size;
    }
}
