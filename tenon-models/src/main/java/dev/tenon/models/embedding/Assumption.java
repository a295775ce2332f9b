package dev.tenon.models.embedding;

import dev.tenon.core.error.Require;

/**
 * A choice that no file of the model and no option makes.
 *
 * @param what the choice, as a phrase: {@code mean pooling}
 * @param option the option of {@code tenon embed} that changes it; {@link EncoderOptions} has a method of a like name
 */
public record Assumption(String what, String option) {
    public Assumption {
        Require.nonNull(what, "what");
        Require.nonNull(option, "option");
    }
}
