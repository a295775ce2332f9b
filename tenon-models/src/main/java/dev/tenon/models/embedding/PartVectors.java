package dev.tenon.models.embedding;

import dev.tenon.core.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The vectors of texts as their parts come from the model, in any order. Thread-safe while parts are added. */
final class PartVectors {
    private final float[] @Nullable [] first;
    /** Of texts that have several parts: the sum of the vectors times their weights. */
    private final double[] @Nullable [] sums;

    private final double[] weights;

    PartVectors(int texts) {
        first = new float[texts][];
        sums = new double[texts][];
        weights = new double[texts];
    }

    /**
     * Adds the vectors of some parts.
     *
     * @param vectors [rows, components], of which the parts' come first
     */
    void add(List<TextPart> parts, Tensor vectors) {
        List<float[]> rows = rows(vectors, parts.size());
        synchronized (this) {
            for (int i = 0; i < rows.size(); i++) {
                add(parts.get(i), rows.get(i));
            }
        }
    }

    private void add(TextPart part, float[] vector) {
        int text = part.text();
        float[] only = first[text];
        if (only == null) {
            first[text] = vector;
            weights[text] = part.weight();
            return;
        }
        double[] sum = sums[text];
        if (sum == null) {
            sum = new double[only.length];
            for (int i = 0; i < sum.length; i++) {
                sum[i] = only[i] * weights[text];
            }
            sums[text] = sum;
        }
        for (int i = 0; i < sum.length; i++) {
            sum[i] += (double) vector[i] * part.weight();
        }
        weights[text] += part.weight();
    }

    /** One vector a text: the mean of its parts, weighted by their numbers of tokens. */
    List<float[]> means() {
        List<float[]> means = new ArrayList<>(first.length);
        for (int text = 0; text < first.length; text++) {
            float[] mean = first[text];
            if (mean == null) {
                throw new IllegalStateException("text " + text + " has no parts");
            }
            double[] sum = sums[text];
            for (int i = 0; sum != null && i < mean.length; i++) {
                mean[i] = (float) (sum[i] / weights[text]);
            }
            means.add(mean);
        }
        return means;
    }

    /** The first rows of a matrix of f32. */
    static List<float[]> rows(Tensor matrix, int count) {
        int width = Math.toIntExact(matrix.shape().size(1));
        List<float[]> rows = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            float[] row = new float[width];
            MemorySegment.copy(matrix.segment(), ValueLayout.JAVA_FLOAT, 4L * i * width, row, 0, width);
            rows.add(row);
        }
        return rows;
    }
}
