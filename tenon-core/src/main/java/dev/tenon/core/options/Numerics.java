package dev.tenon.core.options;

import dev.tenon.core.error.Require;

/**
 * Says what results may depend on for the sake of speed.
 *
 * @param precision of products of f32 values
 * @param additionOrder of the updates of a scatter that adds
 */
public record Numerics(Precision precision, AdditionOrder additionOrder) {
    public Numerics {
        Require.nonNull(precision, "precision");
        Require.nonNull(additionOrder, "additionOrder");
    }
}
