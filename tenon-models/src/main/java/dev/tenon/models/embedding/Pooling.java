package dev.tenon.models.embedding;

import java.util.Arrays;
import java.util.Locale;

/**
 * How one vector for each token becomes one for each text. Padding never counts, not even where it is not a number.
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
     * Writes the weight of each token: pooling is the sum of the token vectors times their weights, for {@link #MAX}
     * the maximum over the tokens whose weight is not 0.
     *
     * @param row one weight a token, 0 for those that do not count
     * @param from the first token that counts; a prompt that does not count lies before it, and CLS ignores it
     * @param to the end of the text; padding lies behind it
     */
    void weigh(float[] row, int from, int to) {
        Arrays.fill(row, 0);
        switch (this) {
            case CLS -> row[0] = 1;
            case LAST_TOKEN -> row[to - 1] = 1;
            case MAX -> Arrays.fill(row, from, to, 1);
            case MEAN -> Arrays.fill(row, from, to, 1f / (to - from));
            case MEAN_SQRT_LEN -> Arrays.fill(row, from, to, (float) (1 / Math.sqrt(to - from)));
            case WEIGHTED_MEAN -> {
                double sum = 0;
                for (int token = from; token < to; token++) {
                    sum += token + 1.0;
                }
                for (int token = from; token < to; token++) {
                    row[token] = (float) ((token + 1.0) / sum);
                }
            }
        }
    }
}
