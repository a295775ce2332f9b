package dev.tenon.cuda.lower.step;

import dev.tenon.core.backend.Program;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.AdditionOrder;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.blas.GemmProblem;
import dev.tenon.cuda.blas.LtAnswer;
import dev.tenon.cuda.dnn.Dnn;
import dev.tenon.cuda.dnn.DnnAnswer;
import dev.tenon.cuda.dnn.DnnOperation;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.tuning.Rival;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What a lowering may ask while it makes a step. */
public interface GpuLoweringContext {
    /**
     * The slot of a value in the frame. Views have a slot of their own over the same memory. Every slot starts on a
     * 64-byte boundary.
     */
    int slot(Value value);

    /**
     * The slot of a copy of a constant matrix that lies transposed, made once for the model. A constant that is only
     * asked for this way takes no memory as it is.
     *
     * @param matrix dense, of rank 2 and whole bytes an element
     */
    default int transposedSlot(Value matrix) {
        return orderedSlot(matrix, new WeightOrder.Transposed());
    }

    /**
     * The same in another order than rows and columns exchanged.
     *
     * @param matrix dense, of rank 2, of f16, bf16 or f32
     */
    int orderedSlot(Value matrix, WeightOrder order);

    /** The kernels; those of a step are compiled and loaded while it is made, never while it runs. */
    Kernels kernels();

    /** Whether f32 products may run in TF32. */
    Precision precision();

    /** In which order scatters add. */
    default AdditionOrder additionOrder() {
        return AdditionOrder.FIXED;
    }

    /** The matrix libraries that were found; what it lacks says why. */
    Blas blas();

    /**
     * A product that cuBLASLt makes, prepared for as long as the step lives.
     *
     * @param rival timed beside the library's algorithms; null for none
     */
    default LtAnswer prepare(GemmProblem problem, @Nullable Rival rival) {
        return blas().prepare(problem, rival);
    }

    /** cuDNN; where it is not, it says why. */
    default Dnn dnn() {
        return Dnn.none("no library was asked for");
    }

    /**
     * An operation that cuDNN has a plan for, kept for as long as the step lives.
     *
     * @param rival timed beside the library's engines; null for none
     */
    default DnnAnswer prepare(DnnOperation operation, @Nullable Rival rival) {
        return dnn().prepare(operation, rival);
    }

    /** The same without a rival. */
    default DnnAnswer prepare(DnnOperation operation) {
        return prepare(operation, null);
    }

    /**
     * A step of ours as a library's rival; null where nothing is timed.
     *
     * @param operandBytes of the values in slots 0, 1, …
     * @param make the step on those slots; null where there is none
     */
    default @Nullable Rival rival(List<Long> operandBytes, Function<GpuLoweringContext, @Nullable GpuStep> make) {
        return null;
    }

    /**
     * The plan of a single node, made runnable by the CPU backend; its constants are the model's.
     *
     * @param reason why there is no kernel for it
     * @throws dev.tenon.core.error.UnsupportedException with that reason where there is no CPU backend, and where it
     *     does not run the node either
     */
    Program onHost(Plan plan, String reason);

    /** What is told of work that may wait until the device has nothing else to do; null where nothing is done then. */
    default @Nullable IdleWork idleWork() {
        return null;
    }

    /** In which form regions run. */
    default RegionForm regions() {
        return RegionForm.asked();
    }

    /** Which of our kernels for matrix products are taken. */
    default ProductForm products() {
        return ProductForm.asked();
    }

    /** Which of our kernels for convolutions are taken. */
    default ConvForm convolutions() {
        return ConvForm.asked();
    }

    /** The tile of products on tensor cores; null for the fastest by a model. */
    default ProductCatalog.@Nullable Tile tile() {
        return null;
    }

    /** Why nothing is compiled for the step that is being made, which was tried; empty where something may be. */
    default String compilerRefused() {
        return "";
    }

    /**
     * What several steps of one plan have in common: made for the first of them. Layers of a model are alike.
     *
     * @param key says all that it depends on within the plan
     */
    default <T> T shared(Object key, Class<T> type, Supplier<T> make) {
        return make.get();
    }

    /**
     * What all plans of a model have in common: made for the first of them.
     *
     * @param key says all that it depends on; no sizes that differ between plans
     */
    default <T> T lasting(Object key, Class<T> type, Supplier<T> make) {
        return make.get();
    }

    /** The number by which the step that is being made reports faults: {@link GpuFrame#faults()}. */
    int stepNumber();
}
