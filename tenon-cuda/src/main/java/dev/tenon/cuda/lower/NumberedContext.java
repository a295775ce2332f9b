package dev.tenon.cuda.lower;

import dev.tenon.core.backend.Program;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.blas.GemmProblem;
import dev.tenon.cuda.blas.LtAnswer;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.ProductForm;
import dev.tenon.cuda.lower.step.RegionForm;
import dev.tenon.cuda.lower.step.WeightOrder;
import dev.tenon.cuda.tuning.Rival;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the lowering of a step asks whose values have places of their own: these are numbered, all else is the node's.
 *
 * @param context the node's
 * @param numbers of the values
 */
record NumberedContext(GpuLoweringContext context, Map<Value, Integer> numbers) implements GpuLoweringContext {
    @Override
    public int slot(Value value) {
        Integer number = numbers.get(value);
        if (number == null) {
            throw new IllegalArgumentException(value + " has no place within the step");
        }
        return number;
    }

    @Override
    public int orderedSlot(Value matrix, WeightOrder order) {
        throw new IllegalArgumentException(matrix + " is no constant within the step");
    }

    @Override
    public Kernels kernels() {
        return context.kernels();
    }

    @Override
    public Precision precision() {
        return context.precision();
    }

    @Override
    public Blas blas() {
        return context.blas();
    }

    @Override
    public LtAnswer prepare(GemmProblem problem, @Nullable Rival rival) {
        return context.prepare(problem, rival);
    }

    @Override
    public @Nullable Rival rival(List<Long> operandBytes, Function<GpuLoweringContext, @Nullable GpuStep> make) {
        return context.rival(operandBytes, make);
    }

    @Override
    public ProductForm products() {
        return context.products();
    }

    @Override
    public <T> T shared(Object key, Class<T> type, Supplier<T> make) {
        return context.shared(key, type, make);
    }

    @Override
    public Program onHost(Plan plan, String reason) {
        return context.onHost(plan, reason);
    }

    @Override
    public RegionForm regions() {
        return context.regions();
    }

    @Override
    public String compilerRefused() {
        return context.compilerRefused();
    }

    @Override
    public int stepNumber() {
        return context.stepNumber();
    }
}
