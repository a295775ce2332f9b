package dev.tenon.cli;

import picocli.CommandLine.Option;

/** How long a bench measures. */
final class MeasureOptions {
    @Option(names = "--runs", paramLabel = "N", description = "Least number of measured runs (${DEFAULT-VALUE}).")
    int runs;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "Least time to warm up and to measure, each (${DEFAULT-VALUE}).")
    double seconds;

    /** Each bench has defaults of its own. */
    MeasureOptions(int runs, double seconds) {
        this.runs = runs;
        this.seconds = seconds;
    }
}
