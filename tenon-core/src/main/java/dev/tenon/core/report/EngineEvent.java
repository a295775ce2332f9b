package dev.tenon.core.report;

import dev.tenon.core.error.Require;
import java.util.List;

/**
 * Something that an engine did, told to its {@link EngineListener} and, where a flight recording is under way, written
 * to it under the names {@code dev.tenon.Plan}, {@code .Run}, {@code .Fallback} and {@code .Eviction}. Immutable.
 */
public sealed interface EngineEvent {
    /** The model's name, as {@code Text.name} of the error package shows it. */
    String model();

    /**
     * A plan was made: a model met types of inputs for the first time, or again after that plan was evicted.
     *
     * @param inputs the types that it is for, with the inputs' names
     * @param steps how many it has
     * @param hostSteps how many of them the host runs for the device
     * @param arenaBytes what a session's values between steps take
     * @param nanos what making it took
     */
    record Planned(String model, List<String> inputs, int steps, int hostSteps, long arenaBytes, long nanos)
            implements EngineEvent {
        public Planned {
            Require.nonNull(model, "model");
            inputs = List.copyOf(Require.elements(inputs, "inputs"));
        }
    }

    /**
     * A run ended.
     *
     * @param failed whether it threw
     * @param nanos how long it took, waiting for its session's turn and planning included
     */
    record Ran(String model, boolean failed, long nanos) implements EngineEvent {
        public Ran {
            Require.nonNull(model, "model");
        }
    }

    /**
     * The host runs a step of a new plan, since the device has no kernel for it: two copies and a wait each run.
     *
     * @param node the name that the model gave it
     * @param op the operation's mnemonic
     * @param reason why the device does not run it
     */
    record FellBack(String model, String node, String op, String reason) implements EngineEvent {
        public FellBack {
            Require.nonNull(model, "model");
            Require.nonNull(node, "node");
            Require.nonNull(op, "op");
            Require.nonNull(reason, "reason");
        }
    }

    /** A plan was given up, since the model has more than its {@code CompileOptions} let it keep. */
    record Evicted(String model) implements EngineEvent {
        public Evicted {
            Require.nonNull(model, "model");
        }
    }
}
