package dev.tenon.formats.npy;

import dev.tenon.core.error.ImportException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The header of a file: a Python dictionary with the keys descr, fortran_order and shape, of which this reads no more
 * than it must.
 */
record NpyHeader(String descr, boolean fortran, List<Long> shape) {
    /** The dictionary, in any order of its keys. @throws ImportException for what numpy does not write */
    static NpyHeader parse(String file, String text) {
        return new Parser(file, text).header();
    }

    private static final class Parser {
        private final String file;
        private final String text;
        private int at;

        Parser(String file, String text) {
            this.file = file;
            this.text = text;
        }

        NpyHeader header() {
            String descr = null;
            Boolean fortran = null;
            List<Long> shape = null;
            expect('{');
            while (!accept('}')) {
                String key = string();
                expect(':');
                switch (key) {
                    case "descr" -> descr = string();
                    case "fortran_order" -> fortran = bool();
                    case "shape" -> shape = shape();
                    default -> throw error("key \"" + key + "\" is not known");
                }
                if (!accept(',')) {
                    expect('}');
                    break;
                }
            }
            return new NpyHeader(given(descr, "descr"), given(fortran, "fortran_order"), given(shape, "shape"));
        }

        private <T> T given(@Nullable T value, String key) {
            if (value == null) {
                throw error("key \"" + key + "\" is missing");
            }
            return value;
        }

        private String string() {
            char quote = peek();
            if (quote != '\'' && quote != '"') {
                throw error("a string was expected (structured types are not supported)");
            }
            int end = text.indexOf(quote, at + 1);
            if (end < 0) {
                throw error("a string does not end");
            }
            String value = text.substring(at + 1, end);
            at = end + 1;
            return value;
        }

        private boolean bool() {
            peek();
            for (String word : List.of("True", "False")) {
                if (text.startsWith(word, at)) {
                    at += word.length();
                    return word.equals("True");
                }
            }
            throw error("True or False was expected");
        }

        private List<Long> shape() {
            List<Long> sizes = new ArrayList<>();
            expect('(');
            while (!accept(')')) {
                sizes.add(number());
                if (!accept(',')) {
                    expect(')');
                    break;
                }
            }
            return List.copyOf(sizes);
        }

        private long number() {
            peek();
            int start = at;
            while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
                at++;
            }
            try {
                long value = Long.parseLong(text, start, at, 10);
                // Python 2 wrote long integers with an L
                if (at < text.length() && text.charAt(at) == 'L') {
                    at++;
                }
                return value;
            } catch (NumberFormatException e) {
                throw (ImportException) error("a size was expected").initCause(e);
            }
        }

        private char peek() {
            while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
                at++;
            }
            return at < text.length() ? text.charAt(at) : 0;
        }

        private boolean accept(char wanted) {
            boolean there = peek() == wanted;
            at += there ? 1 : 0;
            return there;
        }

        private void expect(char wanted) {
            if (!accept(wanted)) {
                throw error("'" + wanted + "' was expected");
            }
        }

        private ImportException error(String what) {
            return new ImportException(file + ": .npy header: " + what + " (position " + at + ")");
        }
    }
}
