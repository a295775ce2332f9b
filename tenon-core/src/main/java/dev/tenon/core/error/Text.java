package dev.tenon.core.error;

/**
 * Shows text that comes from a file, a library or another program: as data, never as commands to a terminal or as lines
 * of its own, and never at a length that the text decides.
 *
 * <p>Control characters (line breaks and ESC among them), marks that change the direction of text, and halves of
 * surrogate pairs become escapes as in Java: {@code \n}, {@code \}{@code u001b}.
 *
 * <p>Every {@link TenonException} passes its message through {@link #message}. What goes elsewhere (a log, a table, a
 * page, JSON) passes names through {@link #name}.
 */
public final class Text {
    /** How many characters of a name are shown. */
    public static final int LONGEST_NAME = 200;

    /** How many characters of a message are shown. */
    static final int LONGEST_MESSAGE = 4000;

    /** Compilers' logs come with numbered lines of source. */
    static final int LONGEST_LOG = 100_000;

    private Text() {}

    /** A name out of a file, escaped, and cut after {@value #LONGEST_NAME} characters, with how many more there are. */
    public static String name(String name) {
        return escaped(cut(name, LONGEST_NAME), false);
    }

    /** A message as one line: escaped; words longer than a name may be and the whole are cut. */
    public static String message(String message) {
        return escaped(cut(cutWords(message), LONGEST_MESSAGE), false);
    }

    /** A message that may have lines of its own, as a compiler's log has. */
    static String lines(String message) {
        return escaped(cut(message, LONGEST_LOG), true);
    }

    private static String cut(String text, int longest) {
        if (text.length() <= longest) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(longest - 1)) ? longest - 1 : longest;
        return text.substring(0, end) + "… (" + (text.length() - end) + " more characters)";
    }

    private static String cutWords(String message) {
        if (message.length() <= LONGEST_NAME) {
            return message;
        }
        StringBuilder shown = new StringBuilder();
        int start = 0;
        for (int i = 0; i <= message.length(); i++) {
            if (i == message.length() || message.charAt(i) == ' ') {
                shown.append(cut(message.substring(start, i), LONGEST_NAME));
                if (i < message.length()) {
                    shown.append(' ');
                }
                start = i + 1;
                if (shown.length() > LONGEST_MESSAGE) {
                    return shown.append(message, i, message.length()).toString();
                }
            }
        }
        return shown.toString();
    }

    private static String escaped(String text, boolean lines) {
        int first = 0;
        while (first < text.length() && plain(text, first, lines)) {
            first++;
        }
        if (first == text.length()) {
            return text;
        }
        StringBuilder shown = new StringBuilder(text.length() + 16).append(text, 0, first);
        for (int i = first; i < text.length(); i++) {
            char c = text.charAt(i);
            if (plain(text, i, lines)) {
                shown.append(c);
            } else {
                switch (c) {
                    case '\n' -> shown.append("\\n");
                    case '\r' -> shown.append("\\r");
                    case '\t' -> shown.append("\\t");
                    default -> shown.append("\\u").append(hex(c));
                }
            }
        }
        return shown.toString();
    }

    private static String hex(char c) {
        String digits = Integer.toHexString(c);
        return "0".repeat(4 - digits.length()) + digits;
    }

    private static boolean plain(String text, int at, boolean lines) {
        char c = text.charAt(at);
        if (c >= ' ' && c < 0x7f) {
            return true;
        }
        if (c < ' ') {
            return lines && (c == '\n' || c == '\t');
        }
        if (Character.isHighSurrogate(c)) {
            return at + 1 < text.length() && Character.isLowSurrogate(text.charAt(at + 1));
        }
        if (Character.isLowSurrogate(c)) {
            return at > 0 && Character.isHighSurrogate(text.charAt(at - 1));
        }
        return switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
