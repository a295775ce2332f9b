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
 * @param loadMillis reading the model and preparing it; 0 where no model was {@link #modelIsLoaded loaded}
 * @param planMillis making plans, some of them perhaps while loading
 * @param spent on devices and kernels; no part of the figures above
 */
public record FirstResult(
        double totalMillis, double jvmMillis, double loadMillis, double planMillis, StartUp.Spent spent) {
    private static long began = System.currentTimeMillis();
    private static long loaded;
    private static double plannedByLoading;
    private static StartUp.Spent spentByLoading = StartUp.Spent.NOTHING;

    /** To be called when the command begins. */
    public static void commandBegins() {
        began = System.currentTimeMillis();
    }

    /**
     * To be called when a model is ready to run, before it runs.
     *
     * @param planMillis what plans have taken so far ({@link dev.tenon.core.runtime.CompiledModel#planMillis})
     */
    public static void modelIsLoaded(double planMillis) {
        loaded = System.currentTimeMillis();
        plannedByLoading = planMillis;
        spentByLoading = StartUp.spent();
    }

    /** To be called when the first result is there. */
    public static FirstResult now() {
        return now(0);
    }

    /**
     * To be called when the first result is there.
     *
     * @param planMillis what plans took ({@link dev.tenon.core.runtime.CompiledModel#planMillis})
     */
    public static FirstResult now(double planMillis) {
        long now = System.currentTimeMillis();
        StartUp.Spent spent = StartUp.spent();
        long start = startOfJvm();
        double spentLoading =
                spentByLoading.openMillis() + spentByLoading.loadMillis() + spentByLoading.compileMillis();
        double ahead = plannedByLoading == 0
                ? 0
                : Math.max(0, plannedByLoading - spentByLoading.loadMillis() - spentByLoading.compileMillis());
        double load = loaded == 0 ? 0 : Math.max(0, loaded - began - spentLoading - ahead);
        StartUp.Spent since = spent.since(spentByLoading);
        double plan = Math.max(
                0, planMillis - plannedByLoading - since.openMillis() - since.loadMillis() - since.compileMillis());
        return new FirstResult(now - start, began - start, load, ahead + plan, spent);
    }

    /** From the start of the JVM until the command began. */
    static double untilCommandMillis() {
        return began - startOfJvm();
    }

    /** To be asked for last: it loads a good many classes. */
    private static long startOfJvm() {
        return ManagementFactory.getRuntimeMXBean().getStartTime();
    }

    private double otherMillis() {
        return totalMillis
                - jvmMillis
                - loadMillis
                - planMillis
                - spent.openMillis()
                - spent.loadMillis()
                - spent.compileMillis();
    }

    /** {@code JVM start to first result 812 ms: 95 ms until the command began, …}. */
    @Override
    public String toString() {
        List<String> parts = new ArrayList<>(List.of(millis(jvmMillis) + " until the command began"));
        if (loadMillis > 0) {
            parts.add(millis(loadMillis) + " loading the model");
        }
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
        if (planMillis > 0) {
            parts.add(millis(planMillis) + " planning");
        }
        parts.add(millis(otherMillis()) + (loadMillis > 0 ? " first run" : " all else"));
        return "JVM start to first result " + millis(totalMillis) + ": " + String.join(", ", parts);
    }

    public Map<String, Object> object() {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("first_result_ms", totalMillis);
        object.put("jvm_ms", jvmMillis);
        object.put("load_ms", loadMillis);
        object.put("plan_ms", planMillis);
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
