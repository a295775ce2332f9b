package dev.tenon.cli.vision;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** What a classifier says of one picture, as probabilities. */
final class Scores {
    /** How far a sum of probabilities may be from 1: those of 16 bits add up no better. */
    private static final double SLACK = 0.02;

    private final double[] probabilities;

    private Scores(double[] probabilities) {
        this.probabilities = probabilities;
    }

    /** A model's results: probabilities where they are some already, else through a softmax. */
    static Scores of(double[] results) {
        double sum = 0;
        double least = 0;
        double most = Double.NEGATIVE_INFINITY;
        for (double result : results) {
            sum += result;
            least = Math.min(least, result);
            most = Math.max(most, result);
        }
        if (least >= 0 && Math.abs(sum - 1) <= SLACK) {
            return new Scores(results.clone());
        }
        double[] shares = new double[results.length];
        double total = 0;
        for (int i = 0; i < shares.length; i++) {
            shares[i] = Math.exp(results[i] - most);
            total += shares[i];
        }
        for (int i = 0; i < shares.length; i++) {
            shares[i] /= total;
        }
        return new Scores(shares);
    }

    int classes() {
        return probabilities.length;
    }

    double probability(int index) {
        return probabilities[index];
    }

    /** The likeliest classes, the likeliest first; of equal ones the lower number. */
    List<Integer> top(int count) {
        return IntStream.range(0, probabilities.length)
                .boxed()
                .sorted(Comparator.comparingDouble((Integer index) -> probabilities[index])
                        .reversed()
                        .thenComparing(Comparator.naturalOrder()))
                .limit(count)
                .toList();
    }
}
