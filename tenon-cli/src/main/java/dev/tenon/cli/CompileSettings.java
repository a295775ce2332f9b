package dev.tenon.cli;

import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.runtime.CompileOptions;
import dev.tenon.core.runtime.Execution;
import dev.tenon.core.runtime.Precision;
import dev.tenon.core.runtime.Weights;
import java.util.Locale;
import picocli.CommandLine.Option;

/** How a model is compiled for the device. */
final class CompileSettings {
    @Option(
            names = "--mode",
            paramLabel = "stream|graph",
            defaultValue = "stream",
            description =
                    "On a GPU: enqueue each step at every run (stream), or record a plan's work once and replay it"
                            + " (graph).")
    String mode = "stream";

    @Option(
            names = "--precision",
            paramLabel = "fast|strict",
            defaultValue = "fast",
            description = "Whether f32 products may run in TF32 on a GPU (fast), or not (strict).")
    String precision = "fast";

    @Option(
            names = "--weights",
            paramLabel = "f32|f16|bf16",
            defaultValue = "f32",
            description = "Keep the weights, and most of what is computed from them, in 16 bits.")
    String weights = "f32";

    CompileOptions apply(CompileOptions options) {
        return options.withExecution(constant(Execution.class, "--mode", mode))
                .withPrecision(constant(Precision.class, "--precision", precision));
    }

    Weights stored() {
        return switch (weights) {
            case "f32" -> Weights.none();
            case "f16" -> Weights.none().half(DType.F16);
            case "bf16" -> Weights.none().half(DType.BF16);
            default -> throw new InputException("--weights is f32, f16 or bf16, not " + weights);
        };
    }

    private static <E extends Enum<E>> E constant(Class<E> type, String option, String word) {
        for (E constant : type.getEnumConstants()) {
            if (constant.name().toLowerCase(Locale.ROOT).equals(word)) {
                return constant;
            }
        }
        throw new InputException(option + " is one of "
                + java.util.Arrays.stream(type.getEnumConstants())
                        .map(each -> each.name().toLowerCase(Locale.ROOT))
                        .toList()
                + ", not " + word);
    }
}
