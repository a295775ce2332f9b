package dev.tenon.core.options;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a model's named dims will be: for compiling ahead and for reports. A run may still bind any other size; it then
 * costs a plan.
 *
 * @param ranges by the dim's name
 */
public record ShapeProfile(Map<String, Range> ranges) {
    /** Sizes of a dim, both ends included. */
    public record Range(long min, long usual, long max) {
        public Range {
            if (min < 0 || min > usual || usual > max) {
                throw new InputException(
                        "a range of sizes needs 0 <= min <= usual <= max, got " + min + ", " + usual + ", " + max);
            }
        }
    }

    public ShapeProfile {
        ranges = Map.copyOf(Require.entries(ranges, "ranges"));
    }

    public static ShapeProfile none() {
        return new ShapeProfile(Map.of());
    }

    /** This profile with the range of one more dim. */
    public ShapeProfile with(String dim, long min, long usual, long max) {
        Map<String, Range> all = new LinkedHashMap<>(ranges);
        all.put(Require.nonNull(dim, "dim"), new Range(min, usual, max));
        return new ShapeProfile(all);
    }
}
