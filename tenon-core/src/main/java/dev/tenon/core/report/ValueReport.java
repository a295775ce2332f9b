package dev.tenon.core.report;

import dev.tenon.core.error.Require;
import java.util.List;

/**
 * One value of a plan: where it lies and how long it is needed. Values that share memory (views, results written over
 * their inputs) have the same place.
 *
 * @param place {@code input}, {@code output}, {@code constant} or {@code arena}
 * @param offset bytes from the start of the arena, for values in it
 * @param producer the step that writes it, -1 for inputs and constants; for a view the step that wrote what it shows
 * @param consumers the steps that read it
 */
public record ValueReport(
        String name, String type, String place, long offset, long bytes, int producer, List<Integer> consumers) {
    public ValueReport {
        Require.nonNull(name, "name");
        Require.nonNull(type, "type");
        Require.nonNull(place, "place");
        consumers = List.copyOf(Require.elements(consumers, "consumers"));
    }

    /** The last step that needs it. */
    public int last() {
        return consumers.isEmpty() ? producer : consumers.getLast();
    }
}
