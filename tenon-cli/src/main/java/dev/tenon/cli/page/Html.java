package dev.tenon.cli.page;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * A self-contained page under construction: one file without a network, searchable, for narrow and dark screens too.
 * Whatever has an attribute {@code data-detail} shows that text when it is chosen, and is what a search looks through.
 */
final class Html {
    private final StringBuilder text = new StringBuilder();

    Html(String title) {
        add("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">")
                .add("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>")
                .add(escaped(title))
                .add("</title><style>\n")
                .add(resource("page.css"))
                .add("</style></head><body>\n<h1>")
                .add(escaped(title))
                .add("</h1>\n");
    }

    /** Adds markup as it stands. */
    Html add(String markup) {
        text.append(markup);
        return this;
    }

    /** A line of small print. */
    Html fact(String words) {
        return add("<p class=\"facts\">").add(escaped(words)).add("</p>\n");
    }

    Html heading(String words) {
        return add("<h2>").add(escaped(words)).add("</h2>\n");
    }

    /** The field that hides what does not fit. */
    Html search(String hint) {
        return add("<input type=\"search\" placeholder=\"" + escaped(hint) + "\" aria-label=\"" + escaped(hint)
                + "\"> <span id=\"found\" class=\"facts\"></span>\n");
    }

    /**
     * A cell.
     *
     * @param kind classes of the style sheet
     */
    Html cell(String kind, String words) {
        return add("<td class=\"" + kind + "\">").add(escaped(words)).add("</td>");
    }

    /** The whole page. */
    String end() {
        return add("<div id=\"detail\" role=\"status\"></div>\n<script>\n")
                .add(resource("page.js"))
                .add("</script></body></html>\n")
                .text
                .toString();
    }

    static String escaped(String words) {
        return words.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    private static String resource(String name) {
        try (InputStream stream = Objects.requireNonNull(Html.class.getResourceAsStream(name), name)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
