package dev.tenon.core.backend;

/**
 * Is told what a run does. Times are those of {@link System#nanoTime}; a device's own times are laid onto that clock.
 * Workers of the run may call at the same time.
 */
public interface RunObserver {
    /**
     * A step has run.
     *
     * @param program whose step
     * @param index in {@link Program#steps}
     * @param track where: {@code cpu} or {@code gpu}
     */
    void step(Program program, int index, String track, long startNanos, long endNanos);

    /**
     * Something else took time.
     *
     * @param track which of the things that work side by side: {@code host}, {@code copies}, {@code worker 1}
     * @param name what was done; empty for a part of the step that ran then
     */
    void span(String track, String name, long startNanos, long endNanos);
}
