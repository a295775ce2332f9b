package dev.tenon.core.options;

import dev.tenon.core.compiler.CompilerOptions;

/**
 * How a model is compiled. Immutable.
 *
 * @param maxPlans how many shapes' plans are kept; the least recently used one goes
 */
public record CompileOptions(
        CompilerOptions compiler,
        CompileMode mode,
        ShapeProfile profile,
        int maxPlans,
        Precision precision,
        Execution execution) {
    public static CompileOptions defaults() {
        return new CompileOptions(
                CompilerOptions.defaults(), CompileMode.JIT, ShapeProfile.none(), 64, Precision.FAST, Execution.STREAM);
    }

    public CompileOptions withCompiler(CompilerOptions options) {
        return new CompileOptions(options, mode, profile, maxPlans, precision, execution);
    }

    /** Ahead of time, for the usual and the largest sizes of the profile. */
    public CompileOptions withAheadOfTime(ShapeProfile shapes) {
        return new CompileOptions(compiler, CompileMode.AOT, shapes, maxPlans, precision, execution);
    }

    public CompileOptions withMaxPlans(int count) {
        return new CompileOptions(compiler, mode, profile, Math.max(1, count), precision, execution);
    }

    public CompileOptions withPrecision(Precision wanted) {
        return new CompileOptions(compiler, mode, profile, maxPlans, wanted, execution);
    }

    public CompileOptions withExecution(Execution wanted) {
        return new CompileOptions(compiler, mode, profile, maxPlans, precision, wanted);
    }
}
