package dev.tenon.cli.profile;

import dev.tenon.core.report.RunProfile;
import dev.tenon.core.report.StepReport;
import dev.tenon.cuda.timing.Ceilings;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Steps that are alike but for their place in the model.
 *
 * @param report of the first of them
 * @param steps how many a run has
 * @param micros what they take together, the median of runs
 * @param share of the time of all steps, 0 to 1
 */
record StepKind(StepReport report, int steps, double micros, double share) {
    private record Key(String op, String tier, String types) {
        static Key of(StepReport report) {
            return new Key(report.op(), report.tier(), report.types());
        }
    }

    /**
     * The kinds of steps, the slowest first.
     *
     * @param runs of one model on inputs of the same types; one or more
     */
    static List<StepKind> of(List<RunProfile> runs) {
        Map<Key, List<RunProfile.Step>> last = new LinkedHashMap<>();
        for (RunProfile.Step step : runs.getLast().steps()) {
            last.computeIfAbsent(Key.of(step.report()), _ -> new ArrayList<>()).add(step);
        }
        List<Map<Key, Double>> sums = runs.stream().map(StepKind::sums).toList();
        Map<Key, Double> medians = new LinkedHashMap<>();
        last.keySet().forEach(key -> medians.put(key, median(sums, key)));
        double all = medians.values().stream().mapToDouble(Double::doubleValue).sum();
        List<StepKind> kinds = new ArrayList<>();
        last.forEach((key, steps) -> {
            double micros = medians.getOrDefault(key, 0.0);
            kinds.add(new StepKind(steps.getFirst().report(), steps.size(), micros, all == 0 ? 0 : micros / all));
        });
        kinds.sort(Comparator.comparingDouble(StepKind::micros).reversed());
        return kinds;
    }

    private static Map<Key, Double> sums(RunProfile run) {
        Map<Key, Double> sums = new LinkedHashMap<>();
        for (RunProfile.Step step : run.steps()) {
            sums.merge(Key.of(step.report()), step.span().micros(), Double::sum);
        }
        return sums;
    }

    private static double median(List<Map<Key, Double>> runs, Key key) {
        double[] sorted = runs.stream()
                .mapToDouble(run -> run.getOrDefault(key, 0.0))
                .sorted()
                .toArray();
        return sorted[sorted.length / 2];
    }

    /** What a step must move at least over what it took. */
    double gigabytesPerSecond() {
        return rate(report.cost().bytes());
    }

    /** Multiplications and additions; 0 where memory bounds the operation. */
    double gigaflopsPerSecond() {
        return rate(report.cost().operations());
    }

    private double rate(long each) {
        return micros == 0 ? 0 : each * (double) steps / micros / 1e3;
    }

    /** How near it comes to what the device could do. */
    double share(Ceilings best, boolean fast) {
        return best.share(report, gigabytesPerSecond(), gigaflopsPerSecond(), fast);
    }
}
