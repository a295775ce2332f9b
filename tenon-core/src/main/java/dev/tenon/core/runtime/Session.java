package dev.tenon.core.runtime;

import dev.tenon.core.backend.Device;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import dev.tenon.core.tensor.LeakWatch;
import dev.tenon.core.tensor.Tensor;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Runs a model. Owns the memory for values between steps, which grows to the largest plan that it ran.
 *
 * <p>One run at a time: threads that share a session take turns; for parallel runs give each thread its own. Outputs
 * belong to the caller and outlive the session.
 */
public final class Session implements AutoCloseable {
    private final CompiledModel model;
    private final Device.State context;
    private final ReentrantLock turn = new ReentrantLock();
    private final LeakWatch watch;
    /** The end of the run that was asked for last. */
    private final AtomicReference<CompletableFuture<Void>> last =
            new AtomicReference<>(CompletableFuture.completedFuture(null));

    private boolean closed;
    private boolean released;

    Session(CompiledModel model, Device.State context) {
        this.model = model;
        this.context = context;
        this.watch = LeakWatch.over(this, "Session");
    }

    /**
     * Runs the model once.
     *
     * @param inputs by name; read where they lie, never written
     * @return the outputs by name, in the model's order
     * @throws dev.tenon.core.error.InputException for a wrong name, type or shape, saying what was expected
     * @throws dev.tenon.core.error.DataException for values that have no result; the session stays usable
     * @throws dev.tenon.core.error.CollectiveException when an input on the device was to be changed by a collective
     *     that has failed
     * @throws ClosedException after close
     */
    public Map<String, Tensor> run(Map<String, Tensor> inputs) {
        return run(inputs, false, List.of(), Map.of());
    }

    /**
     * Runs as much of the model as those outputs need.
     *
     * @param outputs names of outputs, each once; the first run that names these plans for them
     * @return those outputs by name, in that order
     * @throws dev.tenon.core.error.InputException also for names that no output has, and for none
     */
    public Map<String, Tensor> run(Map<String, Tensor> inputs, List<String> outputs) {
        Require.nonNull(inputs, "inputs");
        if (Require.elements(outputs, "outputs").isEmpty() || new HashSet<>(outputs).size() < outputs.size()) {
            throw InputException.of(
                    "outputs",
                    "argument \"outputs\" is " + outputs + "; expected one name of an output or more, each once");
        }
        return run(inputs, false, outputs, Map.of());
    }

    /**
     * Runs as much of the model as the named outputs need, and puts them into the caller's tensors. The CPU backend
     * computes into them where they lie; what a GPU computes is copied into them.
     *
     * @param inputs by name; a tensor may be an output of the same run too
     * @param outputs tensors in host memory, by the names of outputs, of exactly the types that the run gives; no two
     *     share memory. When the run throws, they hold no particular values
     * @throws dev.tenon.core.error.InputException also for a tensor of another type, one on a device, and one that
     *     cannot be written, naming the output
     */
    public void runInto(Map<String, Tensor> inputs, Map<String, Tensor> outputs) {
        Require.nonNull(inputs, "inputs");
        if (Require.entries(outputs, "outputs").isEmpty()) {
            throw InputException.of("outputs", "argument \"outputs\" is empty; expected one tensor to fill or more");
        }
        run(inputs, false, outputs.keySet(), outputs);
    }

    /**
     * The same as {@link #run(Map)}, and says where the time went. On a GPU such a run goes step by step even where
     * runs are recorded, with a mark between any two steps, so it takes longer than others; the first run of a shape
     * holds what happens once, too.
     */
    public ProfiledRun runProfiled(Map<String, Tensor> inputs) {
        Require.nonNull(inputs, "inputs");
        return exclusively(() -> {
            RunRecorder recorder = new RunRecorder();
            context.observe(recorder);
            try {
                Map<String, Tensor> outputs = model.run(context, inputs, false, List.of(), Map.of());
                return new ProfiledRun(outputs, recorder.profile());
            } finally {
                context.observe(null);
            }
        });
    }

    /**
     * The same as {@link #run(Map)}, with outputs that stay in the device's memory where the device has one of its own:
     * as inputs of a further run there they are not copied through the host, and reading them copies them then. The
     * caller closes them ({@link Tensor#close()}); they outlive the session and the model, not the engine.
     */
    public Map<String, Tensor> runOnDevice(Map<String, Tensor> inputs) {
        return run(inputs, true, List.of(), Map.of());
    }

    /**
     * Runs the model on a thread of Tenon's, after the runs that were asked for before.
     *
     * @param inputs must not change before the result is there
     * @return the outputs by name, as of {@link #run(Map)}, or its exception. Cancelled before its run begins, the run
     *     is left out; one that has begun goes on
     */
    public CompletableFuture<Map<String, Tensor>> runAsync(Map<String, Tensor> inputs) {
        Map<String, Tensor> given = Map.copyOf(Require.entries(inputs, "inputs"));
        CompletableFuture<Map<String, Tensor>> result = new CompletableFuture<>();
        CompletableFuture<Void> ended = new CompletableFuture<>(); // the result may be cancelled long before
        Runnable run = () -> {
            try {
                if (!result.isDone()) {
                    result.complete(run(given));
                }
            } catch (Throwable e) {
                result.completeExceptionally(e);
            } finally {
                ended.complete(null);
            }
        };
        var _ = last.getAndSet(ended).whenComplete((_, _) -> AsyncRuns.start(run, result, ended));
        return result;
    }

    private Map<String, Tensor> run(
            Map<String, Tensor> inputs, boolean stay, Collection<String> wanted, Map<String, Tensor> targets) {
        Require.nonNull(inputs, "inputs");
        return exclusively(() -> model.run(context, inputs, stay, wanted, targets));
    }

    private <T> T exclusively(Supplier<T> action) {
        return model.guarded(() -> {
            turn.lock();
            try {
                if (closed) {
                    throw new ClosedException("the session is closed");
                }
                return action.get();
            } finally {
                turn.unlock();
            }
        });
    }

    /** Bytes that the session holds now. */
    public long bytes() {
        return context.bytes();
    }

    /**
     * Closes the session after a run in flight. Idempotent; a close that failed may be called again and goes on where
     * it ended.
     */
    @Override
    public void close() {
        turn.lock();
        try {
            closed = true;
            if (!released) {
                context.close();
                released = true;
                watch.closed();
                model.forget(this);
            }
        } finally {
            turn.unlock();
        }
    }
}
