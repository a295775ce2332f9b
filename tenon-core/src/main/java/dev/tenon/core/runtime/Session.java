package dev.tenon.core.runtime;

import dev.tenon.core.backend.Device;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.tensor.LeakWatch;
import dev.tenon.core.tensor.Tensor;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Runs a model. Owns the memory for values between steps, which grows to the largest plan that it ran.
 *
 * <p>One run at a time: threads that share a session take turns; for parallel runs give each thread its own. Outputs belong to the caller and outlive the session.
 */
public final class Session implements AutoCloseable {
    private final CompiledModel model;
    private final Device.Context context;
    private final ReentrantLock turn = new ReentrantLock();
    private final LeakWatch watch;
    private boolean closed;
    private boolean released;

    Session(CompiledModel model, Device.Context context) {
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
     * @throws dev.tenon.core.error.CollectiveException when an input on the device was to be changed by a collective that has failed
     * @throws ClosedException after close
     */
    public Map<String, Tensor> run(Map<String, Tensor> inputs) {
        return run(inputs, false);
    }

    /**
     * The same, with outputs that stay in the device's memory where the device has one of its own: as inputs of a further run there they are not copied through the host, and reading them copies them then. Whoever asks for them closes
     * them ({@link Tensor#close()}); they outlive the session and the model, not the runtime.
     */
    public Map<String, Tensor> runOnDevice(Map<String, Tensor> inputs) {
        return run(inputs, true);
    }

    private Map<String, Tensor> run(Map<String, Tensor> inputs, boolean stay) {
        return model.guarded(() -> {
            turn.lock();
            try {
                if (closed) {
                    throw new ClosedException("the session is closed");
                }
                return model.run(context, inputs, stay);
            } finally {
                turn.unlock();
            }
        });
    }

    /** Bytes that the session holds now. */
    public long bytes() {
        return context.bytes();
    }

    /** Closes the session after a run in flight. Idempotent; a close that failed may be called again and goes on where it ended. */
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
