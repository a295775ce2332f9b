package dev.tenon.formats.onnx;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Imports a chain of nodes, in order or reversed, in a JVM of its own; prints the nodes, the microseconds of CPU time
 * per node and the bytes of heap per node that the graph takes.
 */
final class LongChain {
    private LongChain() {}

    private static byte[] model(int nodes, boolean reversed) {
        List<Integer> order = Arrays.asList(IntStream.range(0, nodes).boxed().toArray(Integer[]::new));
        if (reversed) {
            Collections.reverse(order);
        }
        return Wire.model(g -> {
            g.input("v0", 2).output("v" + nodes, 2);
            order.forEach(i -> g.node("Neg", "", "v" + i, "v" + (i + 1)));
            return g;
        });
    }

    /** Arguments: the nodes of the chain, and {@code sorted} or {@code reversed}. */
    public static void main(String[] args) {
        int nodes = Integer.parseInt(args[0]);
        boolean reversed = args[1].equals("reversed");
        measure(nodes / 4, reversed);
        measure(nodes, reversed);
    }

    private static void measure(int nodes, boolean reversed) {
        byte[] bytes = model(nodes, reversed);
        long before = used();
        long start = cpuNanos();
        OnnxModel model = OnnxModel.parse("chain", bytes);
        long nanos = cpuNanos() - start;
        long each = (used() - before) / nodes;
        System.out.printf(
                Locale.ROOT, "measured %d %.3f %d%n", model.graph().nodes().size(), nanos / 1e3 / nodes, each);
    }

    /** CPU time of this process. */
    private static long cpuNanos() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .orElse(Duration.ZERO)
                .toNanos();
    }

    private static long used() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
