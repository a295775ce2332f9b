package dev.tenon.cpu.columns;

import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.lazy.Lazy;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.MachineLoops;
import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.machine.ColumnKernel;
import dev.tenon.cpu.machine.RowFoldKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** Passes over rows of f32 that keep numbers of each column: in machine code, or else by loops over single rows. */
public final class ColumnLoops {
    private static final Unary EXP = Unary.of(UnaryFn.EXP);

    private static final Lazy<Optional<ColumnKernel>> KERNEL = new Lazy<>() {
        @Override
        protected Optional<ColumnKernel> make() {
            return MachineLoops.available() ? kernel() : Optional.empty();
        }
    };

    private ColumnLoops() {}

    private static Optional<ColumnKernel> kernel() {
        try {
            return Optional.of(ColumnKernel.make(MachineLoops.lanes()));
        } catch (IllegalStateException e) {
            System.getLogger("dev.tenon.cpu").log(Level.DEBUG, "loops over columns run in Java", e);
            return Optional.empty();
        }
    }

    /** Whether machine code runs here and takes rows of both memories. */
    public static boolean takes(MemorySegment a, MemorySegment b) {
        return Segments.isNative(a) && Segments.isNative(b) && KERNEL.get().isPresent();
    }

    /**
     * Takes rows into the largest of each column and the sum of exponentials against it. A NaN makes its column's sum
     * one, and may leave the largest as it is.
     *
     * @param largest of each column; finite numbers before the first call
     * @param sums of each column, of at most a few thousand rows
     * @param work a row
     */
    public static void expSums(int rows, int n, Matrix x, Place largest, Place sums, Place work) {
        if (takes(x.memory(), sums.memory())) {
            KERNEL.get().orElseThrow().expSums(rows, n, x, largest, sums, MachineLoops.arguments());
            return;
        }
        Loops loops = Loops.current();
        MemorySegment memory = work.memory();
        long at = work.offset();
        MemorySegment kept = largest.memory();
        MemorySegment.copy(kept, largest.offset(), memory, at, 4L * n);
        for (int row = 0; row < rows; row++) {
            long from = x.offset() + row * x.stride();
            loops.binary(BinaryFn.MAX, memory, at, x.memory(), from, memory, at, n);
        }
        loops.binary(BinaryFn.SUB, kept, largest.offset(), memory, at, kept, largest.offset(), n);
        loops.unary(EXP, kept, largest.offset(), kept, largest.offset(), n);
        MemorySegment total = sums.memory();
        loops.binary(BinaryFn.MUL, total, sums.offset(), kept, largest.offset(), total, sums.offset(), n);
        MemorySegment.copy(memory, at, kept, largest.offset(), 4L * n);
        for (int row = 0; row < rows; row++) {
            long from = x.offset() + row * x.stride();
            loops.binary(BinaryFn.SUB, x.memory(), from, kept, largest.offset(), memory, at, n);
            loops.unary(EXP, memory, at, memory, at, n);
            loops.binary(BinaryFn.ADD, total, sums.offset(), memory, at, total, sums.offset(), n);
        }
    }

    /** The softmax of columns of so few rows that registers hold them, where that can be; returns whether it did. */
    public static boolean few(ColumnKernel.Form form, Matrix x, Matrix y) {
        if (!takes(x.memory(), y.memory())
                || form.rows() > KERNEL.get().orElseThrow().mostFew()) {
            return false;
        }
        KERNEL.get().orElseThrow().few(form, x, y, MachineLoops.arguments());
        return true;
    }

    /**
     * The softmax of columns of f32, all rows at once: exponentials are kept in between, where machine code runs and
     * takes the memory; returns whether it did.
     *
     * @param kept {@link ColumnKernel#keptBytes}
     * @param largest finite numbers, in which the largest of each column is left
     * @param sums zeros
     */
    public static boolean softmax(ColumnKernel.Form form, Matrix x, Place kept, Place largest, Place sums, Matrix y) {
        if (!takes(x.memory(), y.memory()) || !Segments.isNative(sums.memory())) {
            return false;
        }
        keptExpSums(form.rows(), form.n(), x, kept, largest, sums);
        reciprocals(form.n(), sums);
        scale(form, kept, largest, sums, y);
        return true;
    }

    /** The same as {@link #expSums}, where machine code {@link #takes} memory, and keeps the exponentials. */
    public static void keptExpSums(int rows, int n, Matrix x, Place kept, Place largest, Place sums) {
        KERNEL.get().orElseThrow().keptExpSums(rows, n, x, kept, largest, sums, MachineLoops.arguments());
    }

    /** Writes exponentials that {@link #keptExpSums} has kept, against the largest of each column, times its factor. */
    public static void scale(ColumnKernel.Form form, Place kept, Place largest, Place factors, Matrix y) {
        KERNEL.get().orElseThrow().scale(form, kept, largest, factors, y, MachineLoops.arguments());
    }

    /** Numbers become their reciprocals. */
    public static void reciprocals(int n, Place row) {
        MemorySegment memory = row.memory();
        if (takes(memory, memory)) {
            KERNEL.get().orElseThrow().reciprocals(n, row, MachineLoops.arguments());
            return;
        }
        for (int j = 0; j < n; j++) {
            long at = row.offset() + 4L * j;
            memory.set(Loops.F32, at, 1 / memory.get(Loops.F32, at));
        }
    }

    /** y = e^(x - largest) times a factor, or x less the largest and a logarithm. */
    public static void write(ColumnKernel.Form form, Matrix x, Place largest, Place factors, Matrix y) {
        if (takes(x.memory(), y.memory())) {
            KERNEL.get().orElseThrow().write(form, x, largest, factors, y, MachineLoops.arguments());
            return;
        }
        Loops loops = Loops.current();
        int n = form.n();
        MemorySegment to = y.memory();
        for (int row = 0; row < form.rows(); row++) {
            long from = x.offset() + row * x.stride();
            long at = y.offset() + row * y.stride();
            loops.binary(BinaryFn.SUB, x.memory(), from, largest.memory(), largest.offset(), to, at, n);
            if (!form.log()) {
                loops.unary(EXP, to, at, to, at, n);
            }
            BinaryFn last = form.log() ? BinaryFn.SUB : BinaryFn.MUL;
            loops.binary(last, to, at, factors.memory(), factors.offset(), to, at, n);
        }
    }

    /**
     * Adds rows to the sums of their columns in f32, of at most a few thousand, where machine code runs and takes them;
     * returns whether it did.
     */
    public static boolean addSums(int rows, int n, Matrix x, Place sums) {
        if (!takes(x.memory(), sums.memory())) {
            return false;
        }
        KERNEL.get().orElseThrow().sums(rows, n, x, sums, MachineLoops.arguments());
        return true;
    }

    /**
     * Takes rows into the largest and the smallest of each column, as keys that {@link RowFoldKernel#largest} reads,
     * where machine code runs and takes them; returns whether it did.
     *
     * @param most keys, {@link Integer#MIN_VALUE} before the first call
     * @param least keys, {@link Integer#MAX_VALUE} before the first call
     */
    public static boolean extremes(int rows, int n, Matrix x, Place most, Place least) {
        if (!takes(x.memory(), most.memory())) {
            return false;
        }
        KERNEL.get().orElseThrow().extremes(rows, n, x, most, least, MachineLoops.arguments());
        return true;
    }

    /** Finds the rows of the extremes of columns, where machine code {@link #takes} them. */
    public static void places(ColumnKernel.Search search, int count, int n, Matrix x, Place keys, Place rows) {
        KERNEL.get().orElseThrow().places(search, count, n, x, keys, rows, MachineLoops.arguments());
    }
}
