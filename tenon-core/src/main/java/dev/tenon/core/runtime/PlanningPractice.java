package dev.tenon.core.runtime;

import dev.tenon.core.compiler.Prepared;
import dev.tenon.core.compiler.Stage;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Makes plans for a model's first sizes and some others on a thread of its own and drops them, for nothing but the JVM,
 * which compiles code that is run often: a young process takes several times as long for its second plan as for its
 * hundredth. Only where sizes vary, so that there will be a second, and where runs leave processors to others.
 * Thread-safe.
 */
final class PlanningPractice {
    /** By then most of what plans is compiled. */
    private static final int ROUNDS = 128;

    /** Sizes that are planned in turns: what libraries and kernels are asked for a new one is practised as well. */
    private static final int SIZES = 4;

    /** What sides of pictures are larger by, from each to the next: networks that halve their input want multiples. */
    private static final int APART = 32;

    /** A side; batches and texts are planned as they were. */
    private static final int LEAST_SIDE = 128;

    /** For all rounds. */
    private static final long MOST_NANOS = 500_000_000;

    /** One plans for the caller, one compiles for the JVM, and one is spare. */
    private static final int LEAST_PROCESSORS = 4;

    private final Planning planning;
    private final Prepared prepared;
    private final AtomicBoolean begun = new AtomicBoolean();

    private PlanningPractice(Planning planning, Prepared prepared) {
        this.planning = planning;
        this.prepared = prepared;
    }

    /**
     * Null where it would gain nothing, or be seen: who dumps graphs wants each once.
     *
     * @param processors of the host
     */
    static @Nullable PlanningPractice of(Planning planning, Prepared prepared, int processors) {
        boolean gains = planning.device().leavesProcessors()
                && processors >= LEAST_PROCESSORS
                && planning.options().mode() != CompileMode.AOT
                && planning.options().compiler().dumpAfter().isEmpty()
                && !prepared.graph().inputs().stream()
                        .allMatch(input -> input.type().shape().isConcrete());
        return gains ? new PlanningPractice(planning, prepared) : null;
    }

    /**
     * Begins, the first time that it is asked to.
     *
     * @param types of the inputs of the plan that was made
     * @param whileOpen runs something while the model cannot be closed, and throws when it is closed
     */
    void begin(List<TensorType> types, Consumer<Runnable> whileOpen) {
        if (!begun.compareAndSet(false, true)) {
            return;
        }
        try {
            Thread.ofPlatform().daemon().name("tenon-practice").start(() -> practise(types, whileOpen));
        } catch (OutOfMemoryError e) {
            // no thread is to be had: plans become fast by themselves
        }
    }

    private void practise(List<TensorType> types, Consumer<Runnable> whileOpen) {
        long start = System.nanoTime();
        try {
            for (int i = 0; i < ROUNDS && System.nanoTime() - start < MOST_NANOS; i++) {
                int beyond = i % SIZES * APART;
                whileOpen.accept(() -> plan(types, beyond));
            }
        } catch (RuntimeException | OutOfMemoryError | StackOverflowError e) {
            // closed, or what the next plan meets too and reports to its caller
        }
    }

    private void plan(List<TensorType> types, int beyond) {
        Map<String, TensorType> named = new LinkedHashMap<>();
        for (int i = 0; i < types.size(); i++) {
            Value input = prepared.graph().inputs().get(i);
            named.put(input.name(), larger(input.shape(), types.get(i), beyond));
        }
        Stage stage = planning.compiler().plan(prepared, named, Map.of());
        planning.device().practise(stage.plan(), planning.weights(), planning.options());
    }

    /** A type whose free sides are larger. */
    private static TensorType larger(Shape declared, TensorType type, int beyond) {
        List<Dim> dims = new ArrayList<>(type.shape().dims());
        for (int axis = 0; axis < dims.size(); axis++) {
            long size = type.shape().size(axis);
            if (declared.isRanked() && !declared.dim(axis).isFixed() && size >= LEAST_SIDE) {
                dims.set(axis, Dim.of(SizeMath.sum("the size of a plan that is practised", size, beyond)));
            }
        }
        return new TensorType(type.dtype(), Shape.of(dims));
    }
}
