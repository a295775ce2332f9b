package dev.tenon.core.options;

import dev.tenon.core.compiler.CompilerOptions;

/**
 * How a model is compiled. Immutable.
 *
 * @param maxPlans how many shapes' plans are kept; the least recently used one goes
 * @param maxPlanBytes how many bytes of constants made for one shape (folded tables, masks) are kept beyond those of the newest plan; the least recently used plan goes. A device with memory of its own holds as much again
 */
public record CompileOptions(
        CompilerOptions compiler,
        CompileMode mode,
        ShapeProfile profile,
        int maxPlans,
        long maxPlanBytes,
        Precision precision,
        Execution execution) {
    public static CompileOptions defaults() {
        return new CompileOptions(
                CompilerOptions.defaults(),
                CompileMode.JIT,
                ShapeProfile.none(),
                64,
                1L << 30,
                Precision.FAST,
                Execution.STREAM);
    }

    public CompileOptions withCompiler(CompilerOptions options) {
        return new CompileOptions(options, mode, profile, maxPlans, maxPlanBytes, precision, execution);
    }

    /** Ahead of time, for the usual and the largest sizes of the profile. */
    public CompileOptions withAheadOfTime(ShapeProfile shapes) {
        return new CompileOptions(compiler, CompileMode.AOT, shapes, maxPlans, maxPlanBytes, precision, execution);
    }

    public CompileOptions withMaxPlans(int count) {
        return new CompileOptions(compiler, mode, profile, Math.max(1, count), maxPlanBytes, precision, execution);
    }

    public CompileOptions withMaxPlanBytes(long bytes) {
        return new CompileOptions(compiler, mode, profile, maxPlans, Math.max(0, bytes), precision, execution);
    }

    public CompileOptions withPrecision(Precision wanted) {
        return new CompileOptions(compiler, mode, profile, maxPlans, maxPlanBytes, wanted, execution);
    }

    public CompileOptions withExecution(Execution wanted) {
        return new CompileOptions(compiler, mode, profile, maxPlans, maxPlanBytes, precision, wanted);
    }
}
