package dev.tenon.core.report;

/**
 * Is told what an engine does: for metrics and logs. Called on the thread that did it, before that goes on, so it must
 * be quick; threads call at the same time. What it throws is logged, and changes nothing for the caller.
 */
@FunctionalInterface
public interface EngineListener {
    /** Listens to nothing, which costs nothing: no event is made. */
    EngineListener NONE = event -> {};

    void event(EngineEvent event);
}
