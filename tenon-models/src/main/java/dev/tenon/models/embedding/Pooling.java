package dev.tenon.models.embedding;

import java.util.Arrays;
import java.util.Locale;

/**
 * How one vector for each token becomes one for each text. Padding never counts.
 *
 * <p>Source: the Pooling module of sentence-transformers, whose names these are.
 */
public enum Pooling {
    /** The vector of the first token. */
    CLS,
    /** The largest value of each component. */
    MAX,
    /** The mean (Reimers and Gurevych, <a href="https://arxiv.org/abs/1908.10084">Sentence-BERT</a>, 2019). */
    MEAN,
    /** The sum over the square root of the number of tokens. */
    MEAN_SQRT_LEN,
    /** The mean with weights 1, 2, 3, … (Muennighoff, <a href="https://arxiv.org/abs/2202.08904">SGPT</a>, 2022). */
    WEIGHTED_MEAN,
    /** The vector of the last token. */
    LAST_TOKEN;

    /** Returns the name as options and messages spell it: {@code last-token}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * Pools tokens {@code from} to {@code to} of a text.
     *
     * @param hidden row-major tokens × width
     * @param from the first token that counts; a prompt that does not count lies before it, and CLS ignores it
     */
    float[] pool(float[] hidden, int width, int from, int to) {
        double[] pooled = new double[width];
        switch (this) {
            case CLS -> addTo(pooled, hidden, 0, 1);
            case LAST_TOKEN -> addTo(pooled, hidden, to - 1, 1);
            case MAX -> {
                Arrays.fill(pooled, Double.NEGATIVE_INFINITY);
                for (int token = from; token < to; token++) {
                    for (int i = 0; i < width; i++) {
                        pooled[i] = Math.max(pooled[i], hidden[token * width + i]);
                    }
                }
            }
            case MEAN, MEAN_SQRT_LEN -> {
                for (int token = from; token < to; token++) {
                    addTo(pooled, hidden, token, 1);
                }
                divide(pooled, this == MEAN ? to - from : Math.sqrt(to - from));
            }
            case WEIGHTED_MEAN -> {
                double weights = 0;
                for (int token = from; token < to; token++) {
                    addTo(pooled, hidden, token, token + 1.0);
                    weights += token + 1.0;
                }
                divide(pooled, weights);
            }
        }
        float[] vector = new float[width];
        for (int i = 0; i < width; i++) {
            vector[i] = (float) pooled[i];
        }
        return vector;
    }

    private static void addTo(double[] sums, float[] hidden, int token, double weight) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] += weight * hidden[token * sums.length + i];
        }
    }

    private static void divide(double[] sums, double by) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] /= by;
        }
    }
}
