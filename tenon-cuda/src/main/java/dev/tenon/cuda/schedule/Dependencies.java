package dev.tenon.cuda.schedule;

import dev.tenon.cuda.schedule.StepUse.Span;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Finds which steps each step must come after: those that wrote what it reads, and those that read or wrote what it
 * writes. Buffers that share memory by the arena's reuse are ordered by the same rule. What follows from other
 * dependencies may be left out.
 */
final class Dependencies {
    private record Access(int step, Span span, boolean write) {}

    /** Accesses that a later step may have to come after. */
    private final List<Access> live = new ArrayList<>();

    private Dependencies() {}

    /** Returns by step the earlier steps that it must come after, ascending. */
    static int[][] of(List<StepUse> steps) {
        Dependencies found = new Dependencies();
        int[][] before = new int[steps.size()][];
        for (int step = 0; step < before.length; step++) {
            before[step] = found.next(step, steps.get(step));
        }
        return before;
    }

    private int[] next(int step, StepUse use) {
        SortedSet<Integer> before = new TreeSet<>();
        for (Access past : live) {
            if (conflicts(past, use)) {
                before.add(past.step);
            }
        }
        // what comes after a write comes after all that the write comes after
        live.removeIf(past -> use.writes().stream().anyMatch(span -> span.covers(past.span)));
        use.reads().forEach(span -> add(step, span, false));
        use.writes().forEach(span -> add(step, span, true));
        return before.stream().mapToInt(Integer::intValue).toArray();
    }

    private void add(int step, Span span, boolean write) {
        if (span.end() > span.from()) {
            live.add(new Access(step, span, write));
        }
    }

    private static boolean conflicts(Access past, StepUse use) {
        return use.writes().stream().anyMatch(past.span::meets)
                || (past.write && use.reads().stream().anyMatch(past.span::meets));
    }
}
