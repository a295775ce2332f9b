package dev.tenon.core.ir;

import dev.tenon.core.error.ImportException;

/**
 * A place in a text of the form of {@link GraphText}, and what can be taken from there. Blanks and comments before a
 * token are skipped.
 */
final class TextCursor {
    private final String text;
    private int at;

    TextCursor(String text) {
        this.text = text;
    }

    /** The first character of the next token, 0 at the end. */
    char peek() {
        skip();
        return at < text.length() ? text.charAt(at) : 0;
    }

    private void skip() {
        while (at < text.length()) {
            if (text.charAt(at) == '#') {
                int end = text.indexOf('\n', at);
                at = end < 0 ? text.length() : end;
            } else if (text.charAt(at) <= ' ') {
                at++;
            } else {
                return;
            }
        }
    }

    /** Whether the next token is in another line. */
    boolean lineEnds() {
        int from = at;
        skip();
        int line = text.indexOf('\n', from);
        return at >= text.length() || (line >= 0 && line < at);
    }

    boolean tryTake(String token) {
        int start = at;
        skip();
        boolean there = text.startsWith(token, at);
        // left where it was, so that a message names the line that something is missing in
        at = there ? at + token.length() : start;
        return there;
    }

    void take(String token) {
        if (!tryTake(token)) {
            throw error("expected \"" + token + "\", found " + found());
        }
    }

    void end() {
        if (peek() != 0) {
            throw error("expected the end, found " + found());
        }
    }

    /** Letters, digits and the signs that names and numbers have. */
    String word(String what) {
        skip();
        int start = at;
        while (at < text.length() && isWord(text.charAt(at))) {
            at++;
        }
        if (at == start) {
            throw error("expected " + what + ", found " + found());
        }
        return text.substring(start, at);
    }

    private static boolean isWord(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || "_./$+-".indexOf(c) >= 0;
    }

    String quoted() {
        take("\"");
        StringBuilder string = new StringBuilder();
        while (at < text.length() && text.charAt(at) != '"' && text.charAt(at) != '\n') {
            char c = text.charAt(at++);
            string.append(c == '\\' ? escaped() : c);
        }
        if (at >= text.length() || text.charAt(at) != '"') {
            throw error("expected \" at the end of the string");
        }
        at++;
        return string.toString();
    }

    private char escaped() {
        char c = at < text.length() ? text.charAt(at++) : 0;
        if (c == 'u' && at + 4 <= text.length()) {
            at += 4;
            try {
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            } catch (NumberFormatException e) {
                throw error("expected four hexadecimal digits after \\u", e);
            }
        }
        if (c != 'n' && c != '"' && c != '\\') {
            throw error("expected one of n \" \\ u after \\");
        }
        return c == 'n' ? '\n' : c;
    }

    private String found() {
        if (peek() == 0) {
            return "the end";
        }
        int end = at + 1;
        while (end < text.length() && end < at + 20 && isWord(text.charAt(end - 1)) && isWord(text.charAt(end))) {
            end++;
        }
        return "\"" + text.substring(at, end) + "\"";
    }

    ImportException error(String message) {
        return new ImportException("graph text, line " + line() + ": " + message);
    }

    ImportException error(String message, Throwable cause) {
        return new ImportException("graph text, line " + line() + ": " + message, cause);
    }

    private long line() {
        return 1
                + text.substring(0, Math.min(at, text.length()))
                        .chars()
                        .filter(c -> c == '\n')
                        .count();
    }
}
