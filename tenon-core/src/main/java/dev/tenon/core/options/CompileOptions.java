package dev.tenon.core.options;

import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;

/**
 * Says how a model is compiled and run: the compiler's switches, when plans are made, precision, the type of weights,
 * execution. Immutable.
 *
 * @param maxPlans how many shapes' plans are kept, 1 or more; the least recently used one goes
 * @param maxPlanBytes how many bytes of constants made for one shape (folded tables, masks) are kept beyond those of
 *     the newest plan; the least recently used plan goes. A device with memory of its own holds as much again
 * @param numerics what results may depend on for the sake of speed
 * @param weightType what f32 weights are kept in
 * @param execution how steps reach a GPU
 */
public record CompileOptions(
        CompilerOptions compiler,
        CompileMode mode,
        ShapeProfile profile,
        int maxPlans,
        long maxPlanBytes,
        Numerics numerics,
        WeightType weightType,
        Execution execution) {
    public CompileOptions {
        Require.nonNull(compiler, "compiler");
        Require.nonNull(mode, "mode");
        Require.nonNull(profile, "profile");
        Require.nonNull(numerics, "numerics");
        Require.nonNull(weightType, "weightType");
        Require.nonNull(execution, "execution");
        if (maxPlans < 1) {
            throw InputException.of("maxPlans", "argument \"maxPlans\" is " + maxPlans + "; expected 1 or more");
        }
        if (maxPlanBytes < 0) {
            throw InputException.of(
                    "maxPlanBytes", "argument \"maxPlanBytes\" is " + maxPlanBytes + "; expected 0 or more");
        }
    }

    /** Returns plans made when a run needs them, at most 64 of them, fast precision, weights as given, step by step. */
    public static CompileOptions defaults() {
        return new CompileOptions(
                CompilerOptions.defaults(),
                CompileMode.JIT,
                ShapeProfile.none(),
                64,
                1L << 30,
                new Numerics(Precision.FAST, AdditionOrder.FIXED),
                WeightType.UNCHANGED,
                Execution.stream());
    }

    public CompileOptions withCompiler(CompilerOptions options) {
        return new CompileOptions(
                Require.nonNull(options, "options"),
                mode,
                profile,
                maxPlans,
                maxPlanBytes,
                numerics,
                weightType,
                execution);
    }

    /** Returns options that plan ahead of time, for the usual and the largest sizes of the profile. */
    public CompileOptions withAheadOfTime(ShapeProfile shapes) {
        return new CompileOptions(
                compiler,
                CompileMode.AOT,
                Require.nonNull(shapes, "shapes"),
                maxPlans,
                maxPlanBytes,
                numerics,
                weightType,
                execution);
    }

    /** @throws InputException for fewer than 1 */
    public CompileOptions withMaxPlans(int count) {
        return new CompileOptions(compiler, mode, profile, count, maxPlanBytes, numerics, weightType, execution);
    }

    /** @throws InputException for less than 0 */
    public CompileOptions withMaxPlanBytes(long bytes) {
        return new CompileOptions(compiler, mode, profile, maxPlans, bytes, numerics, weightType, execution);
    }

    /** Returns the precision of products of f32 values. */
    public Precision precision() {
        return numerics.precision();
    }

    public CompileOptions withPrecision(Precision wanted) {
        return withNumerics(new Numerics(Require.nonNull(wanted, "wanted"), numerics.additionOrder()));
    }

    /** Returns options with an order in which scatters add; {@link AdditionOrder#FIXED} by default. */
    public CompileOptions withAdditionOrder(AdditionOrder wanted) {
        return withNumerics(new Numerics(numerics.precision(), Require.nonNull(wanted, "wanted")));
    }

    private CompileOptions withNumerics(Numerics wanted) {
        return new CompileOptions(compiler, mode, profile, maxPlans, maxPlanBytes, wanted, weightType, execution);
    }

    public CompileOptions withWeightType(WeightType wanted) {
        return new CompileOptions(
                compiler,
                mode,
                profile,
                maxPlans,
                maxPlanBytes,
                numerics,
                Require.nonNull(wanted, "wanted"),
                execution);
    }

    public CompileOptions withExecution(Execution wanted) {
        return new CompileOptions(
                compiler,
                mode,
                profile,
                maxPlans,
                maxPlanBytes,
                numerics,
                weightType,
                Require.nonNull(wanted, "wanted"));
    }
}
