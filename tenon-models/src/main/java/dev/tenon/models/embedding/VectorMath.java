package dev.tenon.models.embedding;

import dev.tenon.core.error.InputException;
import java.util.Arrays;

/** Arithmetic on single vectors. */
final class VectorMath {
    private VectorMath() {}

    /** Scales a vector to length 1; one of length 0 stays. */
    static float[] normalised(float[] vector) {
        double squares = 0;
        for (float x : vector) {
            squares += (double) x * x;
        }
        double scale = squares == 0 ? 1 : 1 / Math.sqrt(squares);
        float[] scaled = new float[vector.length];
        for (int i = 0; i < vector.length; i++) {
            scaled[i] = (float) (vector[i] * scale);
        }
        return scaled;
    }

    /** The first {@code dimensions} components. @throws InputException when there are fewer */
    static float[] shortened(float[] vector, int dimensions) {
        if (dimensions > vector.length) {
            throw new InputException(
                    "the model's vectors have " + vector.length + " dimensions, so they cannot be cut to " + dimensions
                            + "; ask for " + vector.length + " or fewer");
        }
        return Arrays.copyOf(vector, dimensions);
    }

    /** VectorMath one behind another. */
    static float[] concatenated(float[] first, float[] second) {
        float[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }
}
