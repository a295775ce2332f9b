package dev.tenon.core.runtime;

import dev.tenon.core.compiler.Plan;
import dev.tenon.core.report.EngineEvent;
import dev.tenon.core.report.EngineListener;
import dev.tenon.core.report.StepReport;
import java.util.List;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Tells a listener, and a flight recording, what happens to a model. Nothing is made where neither is there. */
final class ModelEvents {
    private final String model;
    private final EngineListener listener;

    ModelEvents(String model, EngineListener listener) {
        this.model = model;
        this.listener = listener;
    }

    /** What has begun and will be told of when it ends. */
    final class Span {
        private final long start = System.nanoTime();
        private final @Nullable FlightRecord record;

        private Span(@Nullable FlightRecord record) {
            this.record = record;
        }

        private void end(LongFunction<EngineEvent> made) {
            EngineEvent event = made.apply(System.nanoTime() - start);
            if (record != null) {
                record.end(event);
            }
            tell(event);
        }
    }

    /** Begins a span of that kind; null without a listener and a recording. */
    @Nullable
    Span begin(Class<? extends EngineEvent> kind) {
        FlightRecord record = FlightRecord.begin(kind);
        return record != null || listens() ? new Span(record) : null;
    }

    void ran(@Nullable Span span, boolean failed) {
        if (span != null) {
            span.end(nanos -> new EngineEvent.Ran(model, failed, nanos));
        }
    }

    void planned(@Nullable Span span, Plan plan, Supplier<List<String>> inputs, Supplier<List<StepReport>> onHost) {
        if (span == null) {
            return;
        }
        List<StepReport> hosted = onHost.get();
        span.end(nanos -> new EngineEvent.Planned(
                model,
                inputs.get(),
                plan.work().size(),
                hosted.size(),
                plan.memory().arenaBytes(),
                nanos));
        for (StepReport step : hosted) {
            String reason = step.passedOver().isEmpty()
                    ? step.tier()
                    : step.passedOver().getLast();
            happened(new EngineEvent.FellBack(model, step.node(), step.op(), reason));
        }
    }

    void evicted() {
        if (listens() || FlightRecord.mayRecord()) {
            happened(new EngineEvent.Evicted(model));
        }
    }

    private void happened(EngineEvent event) {
        FlightRecord record = FlightRecord.begin(event.getClass());
        if (record != null) {
            record.end(event);
        }
        tell(event);
    }

    @SuppressWarnings("ReferenceEquality") // that very one
    private boolean listens() {
        return listener != EngineListener.NONE;
    }

    private void tell(EngineEvent event) {
        try {
            listener.event(event);
        } catch (RuntimeException e) {
            System.getLogger("dev.tenon")
                    .log(System.Logger.Level.WARNING, "the engine's listener failed at " + event, e);
        }
    }
}
