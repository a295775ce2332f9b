package dev.tenon.cli.bench;

import dev.tenon.cli.console.Values;
import picocli.CommandLine.Option;

/** How long a bench measures. */
final class MeasureOptions {
    @Option(
            names = "--runs",
            paramLabel = "N",
            converter = Values.Positive.class,
            description = "Least number of measured runs (${DEFAULT-VALUE}).")
    int runs;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            converter = Values.Seconds.class,
            description = "Least time to warm up and to measure, each (${DEFAULT-VALUE}).")
    double seconds;

    /** Each bench has defaults of its own. */
    MeasureOptions(int runs, double seconds) {
        this.runs = runs;
        this.seconds = seconds;
    }
}
