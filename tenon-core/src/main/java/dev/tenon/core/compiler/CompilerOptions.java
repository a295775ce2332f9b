package dev.tenon.core.compiler;

import dev.tenon.core.error.Require;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * How graphs are compiled.
 *
 * @param optimise whether rewrites and fusions run; without them the plan does node by node what the graph says
 * @param shareMemory whether values that are not alive at the same time share memory
 * @param dumpAfter passes whose result is dumped; {@code all} for every one
 * @param dump takes a pass's name and the graph's text form after it
 */
public record CompilerOptions(
        boolean optimise, boolean shareMemory, Set<String> dumpAfter, BiConsumer<String, String> dump) {
    public CompilerOptions {
        dumpAfter = Set.copyOf(Require.elements(dumpAfter, "dumpAfter"));
        Require.nonNull(dump, "dump");
    }

    public static CompilerOptions defaults() {
        return new CompilerOptions(true, true, Set.of(), (pass, text) -> {});
    }

    public CompilerOptions withOptimise(boolean on) {
        return new CompilerOptions(on, shareMemory, dumpAfter, dump);
    }

    public CompilerOptions withShareMemory(boolean on) {
        return new CompilerOptions(optimise, on, dumpAfter, dump);
    }

    public CompilerOptions withDump(Set<String> passes, BiConsumer<String, String> sink) {
        return new CompilerOptions(
                optimise, shareMemory, Require.nonNull(passes, "passes"), Require.nonNull(sink, "sink"));
    }
}
