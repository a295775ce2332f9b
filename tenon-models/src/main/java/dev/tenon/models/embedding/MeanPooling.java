package dev.tenon.models.embedding;

import dev.tenon.core.runtime.Tensor;

/** One vector for each text out of one for each token. */
final class MeanPooling {
    private MeanPooling() {}

    /**
     * The mean over the first {@code length} tokens of a text (Reimers and Gurevych, <a href="https://arxiv.org/abs/1908.10084">Sentence-BERT</a>, 2019).
     *
     * @param hidden f32[batch, tokens, width]
     */
    static float[] pool(Tensor hidden, int text, int length) {
        int tokens = Math.toIntExact(hidden.shape().size(1));
        int width = Math.toIntExact(hidden.shape().size(2));
        double[] sums = new double[width];
        for (int token = 0; token < length; token++) {
            long at = ((long) text * tokens + token) * width;
            for (int i = 0; i < width; i++) {
                sums[i] += hidden.getDouble(at + i);
            }
        }
        float[] mean = new float[width];
        for (int i = 0; i < width; i++) {
            mean[i] = (float) (sums[i] / length);
        }
        return mean;
    }

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
}
