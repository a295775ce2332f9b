package dev.tenon.models.embedding;

import dev.tenon.core.error.Require;
import java.util.regex.Pattern;

/**
 * What stands before each text.
 *
 * @param value the text itself, or the name of a prompt in the model's {@code config_sentence_transformers.json}
 * @param named whether {@code value} is a name
 */
public record Prompt(String value, boolean named) {
    public Prompt {
        Require.nonNull(value, "value");
    }

    private static final Pattern NAME = Pattern.compile("[\\p{L}\\p{N}_.-]+");

    /** Returns no prompt, whatever the files say. */
    public static Prompt none() {
        return new Prompt("", false);
    }

    /** Returns a prompt that is put before each text as it is: {@code "query: "}. */
    public static Prompt text(String text) {
        return new Prompt(Require.nonNull(text, "text"), false);
    }

    /** Returns the prompt that the model's files call {@code name}. */
    public static Prompt named(String name) {
        return new Prompt(Require.nonNull(name, "name"), true);
    }

    /**
     * Returns a name for one word of letters, digits, {@code _}, {@code .} and {@code -}, and otherwise the text
     * itself.
     */
    public static Prompt parse(String value) {
        return NAME.matcher(Require.nonNull(value, "value")).matches() ? named(value) : text(value);
    }
}
