package dev.tenon.cpu.image;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.image.ResizeTaps;
import dev.tenon.cpu.machine.BlendKernel;

/** The taps of one axis as flat arrays; an element without any has the extrapolation value. */
final class AxisTaps {
    private final int[] starts;
    private final int[] indices;
    private final double[] weights;
    private final float[] weightsF32;
    /** Elements of two taps each: the first such ones that follow each other. */
    private final int pairsFrom;

    private final int pairsTo;

    AxisTaps(ResizeTaps source) {
        starts = new int[source.size() + 1];
        for (int i = 0; i < source.size(); i++) {
            starts[i + 1] = starts[i] + source.indices(i).length;
        }
        indices = new int[starts[source.size()]];
        weights = new double[indices.length];
        for (int i = 0; i < source.size(); i++) {
            int count = starts[i + 1] - starts[i];
            System.arraycopy(source.indices(i), 0, indices, starts[i], count);
            System.arraycopy(source.weights(i), 0, weights, starts[i], count);
        }
        weightsF32 = new float[weights.length];
        for (int tap = 0; tap < weights.length; tap++) {
            weightsF32[tap] = (float) weights[tap];
        }
        int from = 0;
        while (from < size() && count(from) != 2) {
            from++;
        }
        int to = from;
        while (to < size() && count(to) == 2) {
            to++;
        }
        pairsFrom = from;
        pairsTo = to;
    }

    int size() {
        return starts.length - 1;
    }

    int count(int element) {
        return starts[element + 1] - starts[element];
    }

    /** The number of an element's first tap. */
    int first(int element) {
        return starts[element];
    }

    /** Where in the input a tap is. */
    int index(int tap) {
        return indices[tap];
    }

    double weight(int tap) {
        return weights[tap];
    }

    float weightF32(int tap) {
        return weightsF32[tap];
    }

    /**
     * Rows of few floats of a line: each the weighted sum of its taps, or {@code none} where it has none.
     *
     * @param width floats of a row
     */
    void sum(float[] line, float[] result, float none, int width) {
        for (int element = 0; element < pairsFrom; element++) {
            sum(line, result, none, width, element);
        }
        for (int i = 0; i < width; i++) {
            int tap = starts[pairsFrom];
            int put = pairsFrom * width + i;
            for (int element = pairsFrom; element < pairsTo; element++, tap += 2, put += width) {
                float first = weightsF32[tap] * line[indices[tap] * width + i];
                result[put] = first + weightsF32[tap + 1] * line[indices[tap + 1] * width + i];
            }
        }
        for (int element = pairsTo; element < size(); element++) {
            sum(line, result, none, width, element);
        }
    }

    private void sum(float[] line, float[] result, float none, int width, int element) {
        for (int i = 0; i < width; i++) {
            float sum = starts[element] == starts[element + 1] ? none : 0;
            for (int tap = starts[element]; tap < starts[element + 1]; tap++) {
                sum += weightsF32[tap] * line[indices[tap] * width + i];
            }
            result[element * width + i] = sum;
        }
    }

    /** The taps of rows of so many floats. */
    BlendKernel.Taps rows(long floats) {
        return new BlendKernel.Taps(starts, indices, weightsF32, SizeMath.product("resize", floats, 4));
    }

    /** Whether each element is that of the same index. */
    boolean isIdentity() {
        for (int i = 0; i < size(); i++) {
            if (count(i) != 1 || index(i) != i || weight(i) != 1) {
                return false;
            }
        }
        return true;
    }
}
