package dev.tenon.cpu.loops;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A copy between two strided views of one box of elements: what transposes, slices, expansions and concatenations are.
 *
 * <p>Dims that lie one after another in both views are merged first, so that the loops below see the fewest and longest
 * dims there are. What is left is cut into units of some ten kilobytes that may run in any order.
 */
public final class StridedCopy {
    /** A result of so many bytes leaves the caches before the next step has read it. */
    public static final long STREAM_BYTES = 16 << 20;

    private static final long UNIT_BYTES = 32 * 1024;

    /** Of a transpose that is worth larger units. */
    private static final long PANELS_BYTES = 128 * 1024;

    /** Its units are so many, but for their sizes: each page is looked up once a unit, so large ones take less. */
    private static final long PANELS = 32;

    private static final long LEAST_PANEL_BYTES = 128 * 1024;
    private static final long MOST_PANEL_BYTES = 2 << 20;

    /** Of a row of its results, and the most rows that these come from: each lies in a page of its own. */
    private static final long PANEL_COLUMNS_BYTES = 1024;

    private static final long MOST_PANEL_ROWS = 512;

    /** Of each row that is turned by way of a buffer, and of a row of results there: all of it stays in a cache. */
    private static final int BLOCK_BYTES = 128;

    private static final long BUFFER_COLUMNS_BYTES = 2048;
    private static final int LINE = 64;
    private static final ThreadLocal<MemorySegment> BUFFER =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(BLOCK_BYTES * (BUFFER_COLUMNS_BYTES + LINE), LINE));

    /**
     * A cache line of 4-byte elements: the lines that a tile reads are used up before they leave the first-level cache.
     */
    private static final int TILE = 16;

    /** Columns of a picture's pixels, which have a loop of their own. */
    private static final int NARROW = 3;

    private enum Kind {
        /** Both innermost dims are contiguous. */
        RUN,
        /** One element repeated along the innermost dim. */
        REPEAT,
        /** The source is contiguous along the middle dim, the destination along the innermost. */
        TILES,
        STRIDED,
        /** Two elements a byte: one at a time. */
        PACKED
    }

    private record Axis(long size, long from, long to) {}

    private final DType dtype;
    private final Kind kind;
    private final long fromOffset;
    private final long toOffset;
    private final Axis[] outer;
    private final Axis middle;
    private final Axis inner;
    private final long middleChunk;
    private final long innerChunk;
    private final long middleChunks;
    private final long innerChunks;
    private final long units;
    /** Whether the result is too large to be in a cache when it is read. */
    private final boolean stream;

    /**
     * A copy of {@code sizes} elements.
     *
     * @param fromOffset the source's first element; strides are in elements and may be negative or 0
     * @param toOffset the destination's first element; its strides are those of a row-major array, or of a box in one
     */
    public StridedCopy(
            DType dtype, long[] sizes, long fromOffset, long[] fromStrides, long toOffset, long[] toStrides) {
        this.dtype = dtype;
        this.fromOffset = fromOffset;
        this.toOffset = toOffset;
        List<Axis> axes = merge(sizes, fromStrides, toStrides);
        long elements = 1;
        for (Axis axis : axes) {
            elements *= axis.size();
        }
        stream = elements / 8 * dtype.bits() >= STREAM_BYTES;
        Axis last = axes.isEmpty() ? new Axis(1, 1, 1) : axes.removeLast();
        kind = Raw.isPacked(dtype) ? Kind.PACKED : kind(last, axes);
        if (kind == Kind.TILES) {
            axes.add(axes.remove(contiguous(axes)));
        }
        inner = last;
        middle = axes.isEmpty() ? new Axis(1, 0, 0) : axes.removeLast();
        outer = axes.toArray(Axis[]::new);
        boolean panels = kind == Kind.TILES && elements > PANELS_BYTES;
        long panel = Math.clamp(elements / 8 * dtype.bits() / PANELS, LEAST_PANEL_BYTES, MOST_PANEL_BYTES);
        long chunkElements = Math.max(1, (panels ? panel : UNIT_BYTES) * 8 / dtype.bits());
        long most = panels ? panelColumns(chunkElements) : chunkElements;
        innerChunk = kind == Kind.PACKED ? inner.size() : Math.min(inner.size(), most);
        long rows = Math.max(1, chunkElements / Math.max(1, innerChunk));
        middleChunk = kind == Kind.PACKED
                ? middle.size()
                : Math.min(middle.size(), kind == Kind.TILES ? Math.ceilDiv(rows, TILE) * TILE : rows);
        if (elements == 0) {
            middleChunks = 0;
            innerChunks = 0;
            units = 0;
        } else {
            middleChunks = Math.ceilDiv(middle.size(), middleChunk);
            innerChunks = Math.ceilDiv(inner.size(), innerChunk);
            units = elements / middle.size() / inner.size() * middleChunks * innerChunks;
        }
    }

    /** Whole lines, more of them where there are few rows of results. */
    private long panelColumns(long chunkElements) {
        boolean aligned = middle.to() * dtype.bits() / 8 % LINE == 0;
        long bytes = aligned ? PANEL_COLUMNS_BYTES : BUFFER_COLUMNS_BYTES;
        long usual = Math.min(bytes * 8 / dtype.bits(), MOST_PANEL_ROWS);
        return Math.max(usual, chunkElements / Math.max(1, middle.size()) / usual * usual);
    }

    private static List<Axis> merge(long[] sizes, long[] from, long[] to) {
        List<Axis> axes = new ArrayList<>();
        for (int i = 0; i < sizes.length; i++) {
            Axis axis = new Axis(sizes[i], from[i], to[i]);
            Axis before = axes.isEmpty() ? null : axes.getLast();
            if (before != null
                    && before.from() == axis.from() * axis.size()
                    && before.to() == axis.to() * axis.size()) {
                axes.set(axes.size() - 1, new Axis(before.size() * axis.size(), axis.from(), axis.to()));
            } else if (axis.size() != 1) {
                axes.add(axis);
            }
        }
        return axes;
    }

    private static Kind kind(Axis last, List<Axis> others) {
        if (last.to() != 1) {
            return Kind.STRIDED;
        }
        if (last.from() == 1) {
            return Kind.RUN;
        }
        if (last.from() == 0) {
            return Kind.REPEAT;
        }
        return contiguous(others) >= 0 ? Kind.TILES : Kind.STRIDED;
    }

    /** The axis along which the source is contiguous, or -1. */
    private static int contiguous(List<Axis> axes) {
        for (int i = 0; i < axes.size(); i++) {
            if (axes.get(i).from() == 1) {
                return i;
            }
        }
        return -1;
    }

    public long units() {
        return units;
    }

    /** Elements in a unit, about. */
    public long unitElements() {
        return middleChunk * innerChunk;
    }

    /** Does the units [begin, end). */
    public void run(MemorySegment from, MemorySegment to, long begin, long end) {
        for (long unit = begin; unit < end; unit++) {
            long innerIndex = unit % innerChunks * innerChunk;
            long rest = unit / innerChunks;
            long middleIndex = rest % middleChunks * middleChunk;
            rest /= middleChunks;
            long source = fromOffset + middleIndex * middle.from() + innerIndex * inner.from();
            long target = toOffset + middleIndex * middle.to() + innerIndex * inner.to();
            for (int i = outer.length - 1; i >= 0; i--) {
                Axis axis = outer[i];
                long index = rest % axis.size();
                rest /= axis.size();
                source += index * axis.from();
                target += index * axis.to();
            }
            long rows = Math.min(middleChunk, middle.size() - middleIndex);
            long columns = Math.min(innerChunk, inner.size() - innerIndex);
            switch (kind) {
                case RUN -> runs(from, source, to, target, rows, columns);
                case REPEAT -> repeats(from, source, to, target, rows, columns);
                case TILES -> tiles(from, source, to, target, rows, columns);
                case STRIDED -> strided(from, source, to, target, rows, columns);
                case PACKED -> packed(from, source, to, target, rows, columns);
            }
        }
    }

    private void runs(MemorySegment from, long source, MemorySegment to, long target, long rows, long columns) {
        long width = dtype.bytes();
        Matrix given = new Matrix(from, source * width, middle.from() * width);
        Matrix wanted = new Matrix(to, target * width, middle.to() * width);
        if ((rows > 1 || stream) && MachineLoops.move(rows, columns * width, given, wanted, stream)) {
            return;
        }
        for (long row = 0; row < rows; row++) {
            long sourceByte = (source + row * middle.from()) * width;
            Raw.copy(from, sourceByte, to, (target + row * middle.to()) * width, columns * width);
        }
    }

    private void repeats(MemorySegment from, long source, MemorySegment to, long target, long rows, long columns) {
        for (long row = 0; row < rows; row++) {
            long bits = Elements.bits(dtype, from, source + row * middle.from());
            Raw.fillElements(dtype, to, target + row * middle.to(), columns, bits);
        }
    }

    private void tiles(MemorySegment from, long source, MemorySegment to, long target, long rows, long columns) {
        long width;
        for (long column = panels(from, source, to, target, rows, columns); column < columns; column += width) {
            width = tileSize(columns - column);
            long height;
            for (long row = 0; row < rows; row += height) {
                height = columns == NARROW ? rows : tileSize(rows - row);
                long tileSource = source + row + column * inner.from();
                long tileTarget = target + row * middle.to() + column;
                tile(from, tileSource, to, tileTarget, (int) height, (int) width);
            }
        }
    }

    /** As many columns as machine code does; returns how many. */
    private long panels(MemorySegment from, long source, MemorySegment to, long target, long rows, long columns) {
        int width = dtype.bytes();
        Matrix given = new Matrix(from, width * source, width * inner.from());
        Matrix wanted = new Matrix(to, width * target, width * middle.to());
        boolean aligned = wanted.isWholeVectors(LINE, LINE);
        if (stream && !aligned && columns * width >= 4 * LINE && columns * width <= BUFFER_COLUMNS_BYTES) {
            return panelsByBuffer(given, wanted, (int) rows, (int) columns);
        }
        return MachineLoops.transpose(width, (int) columns, (int) rows, given, wanted, stream);
    }

    /** Rows of results that begin within lines: whole lines of them go past the caches from a buffer. */
    private long panelsByBuffer(Matrix from, Matrix to, int rows, int columns) {
        int width = dtype.bytes();
        int most = BLOCK_BYTES / width;
        long step = ((long) columns * width + LINE - 1) / LINE * LINE + LINE;
        Matrix buffer = new Matrix(BUFFER.get(), 0, step);
        int done = columns;
        for (int row = 0; row < rows; row += most) {
            int count = Math.min(most, rows - row);
            Matrix given = from.plus((long) row * width);
            int taken = MachineLoops.transpose(width, columns, count, given, buffer, false);
            Matrix wanted = to.plus(row * to.stride());
            if (!MachineLoops.move(count, (long) taken * width, buffer, wanted, true)) {
                taken = 0;
            }
            done = Math.min(done, taken);
        }
        return done;
    }

    /**
     * Turns columns of whole bytes, side by side, into lines one behind the other.
     *
     * @param stride from row to row, in elements
     * @param rows elements of a line
     */
    public static void turn(
            DType dtype, MemorySegment from, long first, long stride, int rows, int columns, MemorySegment lines) {
        int width = dtype.bytes();
        Matrix given = new Matrix(from, width * first, width * stride);
        Matrix wanted = new Matrix(lines, 0, (long) width * rows);
        for (int row = MachineLoops.transpose(width, rows, columns, given, wanted, false); row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                long bits = Elements.bits(dtype, from, first + row * stride + column);
                Elements.setBits(dtype, lines, (long) column * rows + row, bits);
            }
        }
    }

    /** What would be less than four beyond a tile belongs to it. */
    private static long tileSize(long left) {
        return left < TILE + 4 ? left : TILE;
    }

    private void tile(MemorySegment from, long source, MemorySegment to, long target, int rows, int columns) {
        if (dtype.bits() != 32) {
            for (int row = 0; row < rows; row++) {
                line(from, source + row, inner.from(), to, target + row * middle.to(), 1, columns);
            }
            return;
        }
        boolean fast = Vectors.available()
                && MoveLoops.get().transpose.ready()
                && Segments.isNative(from)
                && Segments.isNative(to);
        long fromStep = inner.from() * 4;
        long toStep = middle.to() * 4;
        if (fast && rows >= 4 && columns >= 4) {
            VectorMoves.transpose4(from, source * 4, fromStep, to, target * 4, toStep, rows, columns);
            return;
        }
        boolean narrow = fast && columns == NARROW && toStep == 4 * NARROW;
        int done = narrow ? VectorMoves.transpose3(from, source * 4, fromStep, to, target * 4, rows) : 0;
        words(from, (source + done) * 4, fromStep, to, target * 4 + done * toStep, toStep, rows - done, columns);
    }

    /** What the transpose by vectors does, an element at a time; steps are in bytes. */
    static void words(
            MemorySegment from,
            long fromByte,
            long fromStep,
            MemorySegment to,
            long toByte,
            long toStep,
            int rows,
            int columns) {
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                int value = from.get(Raw.I32, fromByte + 4L * row + column * fromStep);
                to.set(Raw.I32, toByte + row * toStep + 4L * column, value);
            }
        }
    }

    private void strided(MemorySegment from, long source, MemorySegment to, long target, long rows, long columns) {
        for (long row = 0; row < rows; row++) {
            line(from, source + row * middle.from(), inner.from(), to, target + row * middle.to(), inner.to(), columns);
        }
    }

    private void line(
            MemorySegment from, long source, long sourceStep, MemorySegment to, long target, long step, long count) {
        switch (dtype.bits()) {
            case 64 -> {
                for (long i = 0; i < count; i++) {
                    to.set(Raw.I64, (target + i * step) * 8, from.get(Raw.I64, (source + i * sourceStep) * 8));
                }
            }
            case 32 -> {
                for (long i = 0; i < count; i++) {
                    to.set(Raw.I32, (target + i * step) * 4, from.get(Raw.I32, (source + i * sourceStep) * 4));
                }
            }
            case 16 -> {
                for (long i = 0; i < count; i++) {
                    to.set(Raw.I16, (target + i * step) * 2, from.get(Raw.I16, (source + i * sourceStep) * 2));
                }
            }
            default -> {
                for (long i = 0; i < count; i++) {
                    to.set(Raw.I8, target + i * step, from.get(Raw.I8, source + i * sourceStep));
                }
            }
        }
    }

    private void packed(MemorySegment from, long source, MemorySegment to, long target, long rows, long columns) {
        for (long row = 0; row < rows; row++) {
            long first = source + row * middle.from();
            long put = target + row * middle.to();
            for (long i = 0; i < columns; i++) {
                Elements.setBits(dtype, to, put + i * inner.to(), Elements.bits(dtype, from, first + i * inner.from()));
            }
        }
    }
}
