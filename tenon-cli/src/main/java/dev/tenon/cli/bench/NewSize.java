package dev.tenon.cli.bench;

import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.cuda.timing.StartUp;
import java.io.PrintWriter;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * What a run of a new size took, and where the time went.
 *
 * @param name the size in words
 * @param millis the run, planning included
 * @param planMillis making the plan
 * @param spent on libraries and kernels, most of it part of planning
 * @param collectMillis the garbage collector's
 */
record NewSize(String name, double millis, double planMillis, StartUp.Spent spent, double collectMillis) {
    /** Looks before and after a run. Used by one thread. */
    static final class Watch {
        private final CompiledModel model;
        private final List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
        private double planned;
        private StartUp.Spent spent = StartUp.Spent.NOTHING;
        private double collected;

        Watch(CompiledModel model) {
            this.model = model;
        }

        void begin() {
            planned = model.planMillis();
            spent = StartUp.spent();
            collected = collected();
        }

        /** @param micros what the run took */
        NewSize end(Map<String, Long> dims, double micros) {
            return new NewSize(
                    String.join(" ", dims.values().stream().map(String::valueOf).toList()),
                    micros / 1e3,
                    model.planMillis() - planned,
                    StartUp.spent().since(spent),
                    collected() - collected);
        }

        private double collected() {
            return collectors.stream()
                    .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                    .sum();
        }
    }

    private double runMillis() {
        return Math.max(0, millis - planMillis);
    }

    /** The slowest of them, the slowest first. */
    static List<NewSize> slowest(List<NewSize> all, int most) {
        return all.stream()
                .sorted(Comparator.comparingDouble(NewSize::millis).reversed())
                .limit(most)
                .toList();
    }

    /** Prints the medians of all, and the slowest. */
    static void print(PrintWriter out, List<NewSize> all, int most) {
        Table table = new Table(
                "size", "all", "plan", "libraries", "plans", "modules", "loaded", "compiled", "collector", "run");
        table.row(
                "median",
                median(all, NewSize::millis),
                median(all, NewSize::planMillis),
                median(all, one -> one.spent.askMillis()),
                "",
                median(all, one -> one.spent.loadMillis()),
                "",
                "",
                median(all, NewSize::collectMillis),
                median(all, NewSize::runMillis));
        for (NewSize one : slowest(all, most)) {
            table.row(
                    one.name,
                    duration(one.millis),
                    duration(one.planMillis),
                    duration(one.spent.askMillis()),
                    one.spent.asked(),
                    duration(one.spent.loadMillis()),
                    one.spent.loaded(),
                    one.spent.compiled(),
                    duration(one.collectMillis),
                    duration(one.runMillis()));
        }
        table.print(out);
    }

    private static String median(List<NewSize> all, ToDoubleFunction<NewSize> of) {
        double[] sorted = all.stream().mapToDouble(of).sorted().toArray();
        return duration(sorted.length == 0 ? 0 : sorted[sorted.length / 2]);
    }

    private static String duration(double millis) {
        return Units.duration(millis * 1e3);
    }

    /** The slowest of them, for JSON. */
    static List<Map<String, Object>> objects(List<NewSize> all, int most) {
        List<Map<String, Object>> objects = new ArrayList<>();
        for (NewSize one : slowest(all, most)) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("size", one.name);
            object.put("ms", one.millis);
            object.put("plan_ms", one.planMillis);
            object.put("library_ms", one.spent.askMillis());
            object.put("library_plans", one.spent.asked());
            object.put("kernel_load_ms", one.spent.loadMillis());
            object.put("kernels_loaded", one.spent.loaded());
            object.put("kernels_compiled", one.spent.compiled());
            object.put("collector_ms", one.collectMillis);
            objects.add(object);
        }
        return objects;
    }
}
