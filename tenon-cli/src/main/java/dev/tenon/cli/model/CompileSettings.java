package dev.tenon.cli.model;

import dev.tenon.cli.console.Values;
import dev.tenon.core.options.AdditionOrder;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.options.Precision;
import dev.tenon.core.options.WeightType;
import java.util.Locale;
import picocli.CommandLine.Option;

/** How a model is compiled for the device. A word that is none of those offered is wrong usage. */
public final class CompileSettings {
    @Option(
            names = "--mode",
            paramLabel = "stream|graph|multi:N|graph:N",
            defaultValue = "stream",
            converter = Values.Mode.class,
            description = "On a GPU: enqueue each step at every run (stream), record a plan's work once and replay it"
                    + " (graph), or spread steps over N streams (multi:N), recorded in one graph (graph:N).")
    public Execution mode = Execution.stream();

    @Option(
            names = "--precision",
            paramLabel = "fast|strict",
            defaultValue = "fast",
            description = "Whether f32 products may run in TF32 on a GPU (fast), or not (strict).")
    public Precision precision = Precision.FAST;

    @Option(
            names = "--addition-order",
            paramLabel = "fixed|any",
            defaultValue = "fixed",
            description =
                    "Whether scatters add in the order of their indices, or on a GPU in any order, which is faster.")
    public AdditionOrder additionOrder = AdditionOrder.FIXED;

    @Option(
            names = "--weights",
            paramLabel = "f32|f16|bf16",
            defaultValue = "f32",
            description = "Keep the weights, and most of what is computed from them, in 16 bits.")
    public Stored weights = Stored.F32;

    /** The types that weights are kept in. */
    enum Stored {
        F32,
        F16,
        BF16
    }

    /** A choice as it is written on the command line. */
    public static String word(Enum<?> choice) {
        return choice.name().toLowerCase(Locale.ROOT);
    }

    public CompileOptions apply(CompileOptions options) {
        return options.withExecution(mode)
                .withPrecision(precision)
                .withAdditionOrder(additionOrder)
                .withWeightType(
                        switch (weights) {
                            case F32 -> WeightType.UNCHANGED;
                            case F16 -> WeightType.F16;
                            case BF16 -> WeightType.BF16;
                        });
    }
}
