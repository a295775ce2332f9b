package dev.tenon.core.backend;

import dev.tenon.core.report.StepReport;
import dev.tenon.core.tensor.Tensor;
import java.util.List;

/**
 * A compiled plan: immutable, shared by the sessions of its model, each with a context of its own. Closing it gives
 * back at once what it holds and what contexts hold for it: prepared constants that no other program of its weights
 * uses, recorded work, memory of host steps.
 */
public interface Program extends AutoCloseable {
    /**
     * Runs the plan once.
     *
     * @param context one that the same device made, used by no other thread meanwhile
     * @param inputs in the order of the graph's inputs, of exactly its types; not written
     * @return in the order of the graph's outputs, in memory that belongs to the caller
     * @throws dev.tenon.core.error.DataException for values that have no result; the context stays usable
     */
    Tensor[] run(Device.State context, Tensor[] inputs);

    /**
     * The same, with results that may stay in the device's memory ({@link Tensor#resident()}); by default they do not.
     */
    default Tensor[] runOnDevice(Device.State context, Tensor[] inputs) {
        return run(context, inputs);
    }

    /**
     * Runs the plan once, into memory of the caller.
     *
     * @param outputs in the order of the graph's outputs, of exactly its types, in host memory that this thread may
     *     write; filled when the run returns, of no particular content when it throws. They may share memory with
     *     inputs
     */
    default void runInto(Device.State context, Tensor[] inputs, Tensor[] outputs) {
        Tensor[] results = run(context, inputs);
        for (int i = 0; i < results.length; i++) {
            outputs[i].segment().copyFrom(results[i].segment());
        }
    }

    /**
     * One report for each node of the plan that is not a view, in the order of the graph: what it does, the tier it
     * took and why others were passed over.
     */
    List<StepReport> steps();

    /** Those of {@link #steps} that the host runs for the device, which are told of after each plan. */
    default List<StepReport> hostSteps() {
        return steps().stream().filter(StepReport::onHost).toList();
    }

    /**
     * In words, whether what an earlier process had saved of the plan was loaded, and why not; empty where nothing was
     * looked for.
     */
    default String saved() {
        return "";
    }

    /** Bytes of workspace that a context needs beside the plan's arena. */
    long workspaceBytes();

    /**
     * Gives back what the program holds. Called by any thread, while no context runs the program; it is not run
     * afterwards. Idempotent; a close that failed may be called again and goes on where it ended.
     */
    @Override
    void close();
}
