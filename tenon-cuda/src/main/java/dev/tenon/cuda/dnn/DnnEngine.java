package dev.tenon.cuda.dnn;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One of cuDNN's engines for an operation graph, and how its knobs are set. Numbers are those of one version of the
 * library.
 *
 * @param number the engine's
 * @param knobs their types and values
 */
record DnnEngine(long number, Map<Integer, Long> knobs) {
    DnnEngine {
        knobs = Map.copyOf(knobs);
    }

    /** In one line: {@code 35 2=1 7=0}. */
    String words() {
        StringBuilder words = new StringBuilder().append(number);
        new TreeMap<>(knobs)
                .forEach((type, value) ->
                        words.append(' ').append(type).append('=').append(value));
        return words.toString();
    }

    /** What words say; null where they say nothing of the kind. */
    static @Nullable DnnEngine parse(String words) {
        String[] parts = words.split(" ", -1);
        try {
            Map<Integer, Long> knobs = new TreeMap<>();
            for (int i = 1; i < parts.length; i++) {
                int equals = parts[i].indexOf('=');
                knobs.put(
                        Integer.parseInt(parts[i].substring(0, Math.max(0, equals))),
                        Long.parseLong(parts[i].substring(equals + 1)));
            }
            return new DnnEngine(Long.parseLong(parts[0]), knobs);
        } catch (NumberFormatException e) {
            return null;
        }
    }
}
