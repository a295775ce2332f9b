package dev.tenon.cpu.columns;

import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.MachineLoops;
import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.machine.RowFoldKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** Reductions of many short rows of f32 in one call, where machine code runs. */
public final class RowFolds {
    private static final Optional<RowFoldKernel> KERNEL = MachineLoops.folds();

    private RowFolds() {}

    /** Whether machine code runs here and takes rows of {@code n} elements. */
    public static boolean takes(ReduceFn fn, long n, MemorySegment x) {
        boolean known = switch (fn) {
            case SUM, MEAN, LOG_SUM, L2, SUM_SQUARE, MAX, MIN, LOG_SUM_EXP -> true;
            case L1, PROD, ANY, ALL -> false;
        };
        return known
                && Segments.isNative(x)
                && KERNEL.isPresent()
                && KERNEL.get().takes(n);
    }

    /** Reduces rows, which {@link #takes}, to pairs of {@link RowFoldKernel#PAIR} bytes. */
    public static void run(ReduceFn fn, int rows, int n, Matrix x, Place pairs) {
        RowFoldKernel kernel = KERNEL.orElseThrow();
        MemorySegment arguments = MachineLoops.arguments();
        switch (fn) {
            case MAX, MIN -> kernel.extremes(rows, n, x, pairs, arguments);
            case LOG_SUM_EXP -> kernel.exponentials(rows, n, x, pairs, arguments);
            case SUM, MEAN, LOG_SUM, L2, SUM_SQUARE, L1, PROD, ANY, ALL -> kernel.sums(rows, n, x, pairs, arguments);
        }
    }

    /**
     * What a pair says of its row: the sum, the sum of squares, the extreme, or the sum of exponentials. A sum that is
     * no finite number says nothing.
     */
    public static double value(ReduceFn fn, MemorySegment memory, long pair) {
        return switch (fn) {
            case MAX -> RowFoldKernel.largest(memory.get(Convert.I32, pair), memory.get(Convert.I32, pair + 4));
            case MIN -> RowFoldKernel.smallest(memory.get(Convert.I32, pair), memory.get(Convert.I32, pair + 4));
            case L2, SUM_SQUARE, LOG_SUM_EXP -> memory.get(Loops.F32, pair + 4);
            case SUM, MEAN, LOG_SUM, L1, PROD, ANY, ALL -> memory.get(Loops.F32, pair);
        };
    }

    /** Of the sums of exponentials the largest element of the row. */
    public static float largest(MemorySegment memory, long pair) {
        return memory.get(Loops.F32, pair);
    }
}
