package dev.tenon.core.options;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * What a model's named dims will be: for compiling ahead and for reports. A run may still bind any other size; it then
 * costs a plan.
 *
 * @param ranges by the dim's name
 * @param sizes sizes of all dims that are expected beside the ranges' usual and largest ones
 */
public record ShapeProfile(Map<String, Range> ranges, List<Map<String, Long>> sizes) {
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
        sizes = Require.elements(sizes, "sizes").stream()
                .map(each -> Map.copyOf(Require.entries(each, "sizes")))
                .toList();
    }

    /**
     * Returns what is planned ahead of time, each once: the usual sizes, the largest, and those listed. A listener of
     * the engine is told of each plan, so that progress can be shown.
     */
    public List<Map<String, Long>> shapes() {
        Set<Map<String, Long>> all = new LinkedHashSet<>();
        if (!ranges.isEmpty() || sizes.isEmpty()) {
            all.add(each(Range::usual));
            all.add(each(Range::max));
        }
        all.addAll(sizes);
        return List.copyOf(all);
    }

    private Map<String, Long> each(ToLongFunction<Range> size) {
        Map<String, Long> dims = new HashMap<>();
        ranges.forEach((name, range) -> dims.put(name, size.applyAsLong(range)));
        return dims;
    }

    public static ShapeProfile none() {
        return new ShapeProfile(Map.of(), List.of());
    }

    /** This profile with the range of one more dim. */
    public ShapeProfile with(String dim, long min, long usual, long max) {
        Map<String, Range> all = new LinkedHashMap<>(ranges);
        all.put(Require.nonNull(dim, "dim"), new Range(min, usual, max));
        return new ShapeProfile(all, sizes);
    }

    /**
     * Returns this profile with one more shape.
     *
     * @param dims the size of each named dim
     */
    public ShapeProfile withSizes(Map<String, Long> dims) {
        List<Map<String, Long>> all = new ArrayList<>(sizes);
        all.add(Require.entries(dims, "dims"));
        return new ShapeProfile(ranges, all);
    }
}
