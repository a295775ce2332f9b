package dev.tenon.core.runtime;

import dev.tenon.core.report.EngineEvent;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/**
 * One of the JVM's flight recorder events, from its begin to its end. Until the flight recorder is in use, and in a
 * run-time image without the module {@code jdk.jfr}, no event is made, and asking costs a read.
 */
@SuppressWarnings("UnusedVariable") // the recorder reads the events' fields
final class FlightRecord {
    private static final boolean PRESENT =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private final Event event;

    private FlightRecord(Event event) {
        this.event = event;
    }

    static boolean mayRecord() {
        return PRESENT && FlightRecorder.isInitialized();
    }

    /** Begins one; null where no recording wants it. */
    static @Nullable FlightRecord begin(Class<? extends EngineEvent> kind) {
        if (!mayRecord()) {
            return null;
        }
        Event event = kind == EngineEvent.Ran.class
                ? new RunEvent()
                : kind == EngineEvent.Planned.class
                        ? new PlanEvent()
                        : kind == EngineEvent.FellBack.class ? new FallbackEvent() : new EvictionEvent();
        if (!event.isEnabled()) {
            return null;
        }
        event.begin();
        return new FlightRecord(event);
    }

    /** Ends it with what has happened meanwhile, of the kind that it was begun for. */
    void end(EngineEvent told) {
        event.end();
        if (event.shouldCommit()) {
            fill(told);
            event.commit();
        }
    }

    private void fill(EngineEvent told) {
        switch (told) {
            case EngineEvent.Ran ran
            when event instanceof RunEvent run -> {
                run.model = ran.model();
                run.failed = ran.failed();
            }
            case EngineEvent.Planned planned
            when event instanceof PlanEvent plan -> {
                plan.model = planned.model();
                plan.inputs = String.join(", ", planned.inputs());
                plan.steps = planned.steps();
                plan.hostSteps = planned.hostSteps();
                plan.arenaBytes = planned.arenaBytes();
            }
            case EngineEvent.FellBack fell
            when event instanceof FallbackEvent fallback -> {
                fallback.model = fell.model();
                fallback.node = fell.node();
                fallback.op = fell.op();
                fallback.reason = fell.reason();
            }
            case EngineEvent.Evicted evicted
            when event instanceof EvictionEvent eviction -> eviction.model = evicted.model();
            case EngineEvent.Ran _, EngineEvent.Planned _, EngineEvent.FellBack _, EngineEvent.Evicted _ ->
                throw new IllegalStateException(told + " ends " + event.getClass());
        }
    }

    @Name("dev.tenon.Run")
    @Label("Model Run")
    @Category("Tenon")
    @Description("One run of a model, planning included")
    @StackTrace(false)
    private static final class RunEvent extends Event {
        @Label("Model")
        String model = "";

        @Label("Failed")
        boolean failed;
    }

    @Name("dev.tenon.Plan")
    @Label("Plan")
    @Category("Tenon")
    @Description("A plan made for types of inputs that a model had none for")
    private static final class PlanEvent extends Event {
        @Label("Model")
        String model = "";

        @Label("Inputs")
        String inputs = "";

        @Label("Steps")
        int steps;

        @Label("Host Steps")
        int hostSteps;

        @Label("Arena")
        @DataAmount
        long arenaBytes;
    }

    @Name("dev.tenon.Fallback")
    @Label("Host Step")
    @Category("Tenon")
    @Description("A step that the host runs for the device")
    @StackTrace(false)
    private static final class FallbackEvent extends Event {
        @Label("Model")
        String model = "";

        @Label("Node")
        String node = "";

        @Label("Operation")
        String op = "";

        @Label("Reason")
        String reason = "";
    }

    @Name("dev.tenon.Eviction")
    @Label("Plan Evicted")
    @Category("Tenon")
    @StackTrace(false)
    private static final class EvictionEvent extends Event {
        @Label("Model")
        String model = "";
    }
}
