package dev.tenon.cli.model;

import dev.tenon.cuda.timing.StartUp;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Where the time went from the start of the JVM to the first result.
 *
 * @param totalMillis all of it
 * @param jvmMillis until the command began
 * @param spent on devices and kernels
 */
public record FirstResult(double totalMillis, double jvmMillis, StartUp.Spent spent) {
    private static long began = System.currentTimeMillis();

    /** To be called when the command begins. */
    public static void commandBegins() {
        began = System.currentTimeMillis();
    }

    /** To be called when the first result is there. */
    public static FirstResult now() {
        long now = System.currentTimeMillis();
        StartUp.Spent spent = StartUp.spent();
        long start = ManagementFactory.getRuntimeMXBean().getStartTime(); // last: it loads a good many classes
        return new FirstResult(now - start, began - start, spent);
    }

    private double otherMillis() {
        return totalMillis - jvmMillis - spent.openMillis() - spent.loadMillis() - spent.compileMillis();
    }

    /** {@code JVM start to first result 812 ms: 95 ms until the command began, …}. */
    @Override
    public String toString() {
        List<String> parts = new ArrayList<>(List.of(millis(jvmMillis) + " until the command began"));
        if (spent.openMillis() > 0) {
            parts.add(millis(spent.openMillis()) + " driver and context");
        }
        if (spent.loaded() > 0) {
            long cached = spent.loaded() - spent.compiled();
            parts.add(millis(spent.loadMillis()) + " loading " + spent.loaded() + " modules of kernels (" + cached
                    + " cached)");
        }
        if (spent.compiled() > 0) {
            parts.add(millis(spent.compileMillis()) + " compiling " + spent.compiled());
        }
        parts.add(millis(otherMillis()) + " all else");
        return "JVM start to first result " + millis(totalMillis) + ": " + String.join(", ", parts);
    }

    public Map<String, Object> object() {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("first_result_ms", totalMillis);
        object.put("jvm_ms", jvmMillis);
        object.put("driver_ms", spent.openMillis());
        object.put("kernel_load_ms", spent.loadMillis());
        object.put("kernels_loaded", spent.loaded());
        object.put("kernel_compile_ms", spent.compileMillis());
        object.put("kernels_compiled", spent.compiled());
        object.put("other_ms", otherMillis());
        return object;
    }

    private static String millis(double millis) {
        return String.format(Locale.ROOT, millis < 10 ? "%.1f ms" : "%.0f ms", millis);
    }
}
