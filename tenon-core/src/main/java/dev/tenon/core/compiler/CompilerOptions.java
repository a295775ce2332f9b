package dev.tenon.core.compiler;

import dev.tenon.core.error.Require;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * How graphs are compiled.
 *
 * @param optimise whether rewrites and fusions run; without them the plan does node by node what the graph says
 * @param skip optimisations that do not run, by the name of their pass
 * @param shareMemory whether values that are not alive at the same time share memory
 * @param dumpAfter passes whose result is dumped; {@code all} for every one
 * @param dump takes a pass's name and the graph's text form after it
 */
public record CompilerOptions(
        boolean optimise,
        Set<String> skip,
        boolean shareMemory,
        Set<String> dumpAfter,
        BiConsumer<String, String> dump) {
    public CompilerOptions {
        skip = Set.copyOf(Require.elements(skip, "skip"));
        dumpAfter = Set.copyOf(Require.elements(dumpAfter, "dumpAfter"));
        Require.nonNull(dump, "dump");
    }

    public static CompilerOptions defaults() {
        return new CompilerOptions(true, Set.of(), true, Set.of(), (pass, text) -> {});
    }

    public CompilerOptions withOptimise(boolean on) {
        return new CompilerOptions(on, skip, shareMemory, dumpAfter, dump);
    }

    /**
     * These options without some passes.
     *
     * @param passes names of optimisations, as {@link Compiler#optimisationNames} lists them
     */
    public CompilerOptions withSkip(Set<String> passes) {
        return new CompilerOptions(optimise, Require.nonNull(passes, "passes"), shareMemory, dumpAfter, dump);
    }

    public CompilerOptions withShareMemory(boolean on) {
        return new CompilerOptions(optimise, skip, on, dumpAfter, dump);
    }

    public CompilerOptions withDump(Set<String> passes, BiConsumer<String, String> sink) {
        return new CompilerOptions(
                optimise, skip, shareMemory, Require.nonNull(passes, "passes"), Require.nonNull(sink, "sink"));
    }
}
