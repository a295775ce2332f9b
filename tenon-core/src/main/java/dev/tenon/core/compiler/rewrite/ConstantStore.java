package dev.tenon.core.compiler.rewrite;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.HostMemory;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.convolution.FiniteWeights;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Constants that passes make out of the constants of one model, each made once, whatever the number of plans.
 * Thread-safe.
 */
public final class ConstantStore {
    /** Rows that are transposed together. */
    private static final long TILE = 64;

    /** Elements of a row that is turned in arrays. */
    private static final long MOST_IN_ARRAYS = 1 << 20;

    /** Empty. */
    public ConstantStore() {}

    private record Joined(List<ConstantData> parts, int axis) {}

    private final Map<Joined, ConstantData> made = new ConcurrentHashMap<>();
    private final Map<ConstantData, ConstantData> turned = new ConcurrentHashMap<>();
    private final Map<ConstantData, ConstantData> flipped = new ConcurrentHashMap<>();
    private final Map<ConstantData, Optional<ConstantData>> halves = new ConcurrentHashMap<>();

    /**
     * Constants one behind the other along an axis, in memory that is freed when unreachable.
     *
     * @param parts of one type of whole bytes; equal in all other axes
     */
    public ConstantData joined(List<ConstantData> parts, int axis) {
        return made.computeIfAbsent(new Joined(List.copyOf(parts), axis), ConstantStore::join);
    }

    private static ConstantData join(Joined joined) {
        int axis = joined.axis;
        TensorType first = joined.parts.getFirst().type();
        long size = joined.parts.stream()
                .mapToLong(part -> part.type().shape().size(axis))
                .sum();
        Shape shape = first.shape().with(axis, Dim.of(size));
        TensorType type = new TensorType(first.dtype(), shape);
        MemorySegment to = HostMemory.allocate(type.bytes(), 64);
        long rows = shape.elements(0, axis);
        long rowBytes = rows == 0 ? 0 : type.bytes() / rows;
        long at = 0;
        for (ConstantData part : joined.parts) {
            MemorySegment from = part.elements();
            long bytes = rows == 0 ? 0 : from.byteSize() / rows;
            for (long row = 0; row < rows; row++) {
                MemorySegment.copy(from, row * bytes, to, row * rowBytes + at, bytes);
            }
            at += bytes;
        }
        return new ConstantData.Dense(type, to);
    }

    /**
     * A constant [A,B,...] as [A,...,B], in memory that is freed when unreachable.
     *
     * @param data of rank 2 at least and whole bytes an element
     */
    public ConstantData channelsLast(ConstantData data) {
        return turned.computeIfAbsent(data, ConstantStore::turn);
    }

    /** A constant [A,B] as [B,A], in memory that is freed when unreachable. Elements may share bytes. */
    public ConstantData transposed(ConstantData data) {
        return flipped.computeIfAbsent(data, ConstantStore::flip);
    }

    /**
     * The first half of a constant's last axis, in memory that is freed when unreachable; null where the second half
     * has other bits, or the axis is none or odd.
     *
     * @param data of whole bytes
     */
    public @Nullable ConstantData firstHalf(ConstantData data) {
        return halves.computeIfAbsent(data, key -> Optional.ofNullable(half(key)))
                .orElse(null);
    }

    private static @Nullable ConstantData half(ConstantData data) {
        Shape shape = data.type().shape();
        int last = shape.rank() - 1;
        if (last < 0 || shape.size(last) % 2 != 0) {
            return null;
        }
        TensorType type = new TensorType(data.type().dtype(), shape.with(last, Dim.of(shape.size(last) / 2)));
        if (data instanceof ConstantData.Splat(TensorType _, long element)) {
            return new ConstantData.Splat(type, element);
        }
        long rows = type.shape().elements(0, last);
        long bytes = rows == 0 ? 0 : type.bytes() / rows;
        MemorySegment from = data.elements();
        MemorySegment to = HostMemory.allocate(type.bytes(), 64);
        for (long row = 0; row < rows; row++) {
            long at = 2 * row * bytes;
            if (MemorySegment.mismatch(from, at, at + bytes, from, at + bytes, at + 2 * bytes) >= 0) {
                return null;
            }
            MemorySegment.copy(from, at, to, row * bytes, bytes);
        }
        return new ConstantData.Dense(type, to);
    }

    private static ConstantData flip(ConstantData data) {
        Shape shape = data.type().shape();
        DType dtype = data.type().dtype();
        TensorType type = new TensorType(dtype, Shape.of(List.of(shape.dim(1), shape.dim(0))));
        if (data instanceof ConstantData.Splat(TensorType _, long element)) {
            return new ConstantData.Splat(type, element);
        }
        long rows = shape.size(0);
        long columns = shape.size(1);
        MemorySegment from = data.elements();
        MemorySegment to = HostMemory.allocate(type.bytes(), 64);
        for (long first = 0; first < rows; first += TILE) { // rows of a tile stay in the cache
            for (long column = 0; column < columns; column++) {
                for (long row = first; row < Math.min(first + TILE, rows); row++) {
                    if (dtype == DType.I8 || dtype == DType.U8) {
                        byte element = from.get(ValueLayout.JAVA_BYTE, row * columns + column);
                        to.set(ValueLayout.JAVA_BYTE, column * rows + row, element);
                    } else {
                        long bits = Elements.bits(dtype, from, row * columns + column);
                        Elements.setBits(dtype, to, column * rows + row, bits);
                    }
                }
            }
        }
        return new ConstantData.Dense(type, to);
    }

    private static ConstantData turn(ConstantData data) {
        Shape shape = data.type().shape();
        List<Dim> dims = new ArrayList<>(shape.dims());
        dims.add(dims.remove(1));
        TensorType type = new TensorType(data.type().dtype(), Shape.of(dims));
        if (data instanceof ConstantData.Splat(TensorType _, long element)) {
            return new ConstantData.Splat(type, element);
        }
        long rows = shape.size(0);
        long channels = shape.size(1);
        long cells = shape.elements(2, shape.rank());
        ConstantData.Dense made;
        if (channels == 1 || cells == 1) {
            made = (ConstantData.Dense) data.reshaped(type.shape()); // the order is the same
        } else {
            MemorySegment to = HostMemory.allocate(type.bytes(), 64);
            turn(type.dtype().bytes(), data.elements(), to, rows, channels, cells);
            made = new ConstantData.Dense(type, to);
        }
        FiniteWeights.same(data, made);
        return made;
    }

    private static void turn(int bytes, MemorySegment from, MemorySegment to, long rows, long channels, long cells) {
        if (bytes == Float.BYTES && channels * cells <= MOST_IN_ARRAYS) {
            turnInts(from, to, rows, (int) channels, (int) cells);
            return;
        }
        for (long row = 0; row < rows; row++) {
            for (long cell = 0; cell < cells; cell++) {
                for (long channel = 0; channel < channels; channel++) {
                    long at = (row * channels + channel) * cells + cell;
                    long place = (row * cells + cell) * channels + channel;
                    move(bytes, from, at, to, place);
                }
            }
        }
    }

    /** By way of arrays, whose loops are fast before the JVM has compiled those over segments. */
    private static void turnInts(MemorySegment from, MemorySegment to, long rows, int channels, int cells) {
        int size = channels * cells;
        int[] row = new int[size];
        int[] turned = new int[size];
        for (long i = 0; i < rows; i++) {
            MemorySegment.copy(from, ValueLayout.JAVA_INT_UNALIGNED, i * size * Integer.BYTES, row, 0, size);
            for (int channel = 0, at = 0; channel < channels; channel++) {
                for (int place = channel; place < size; place += channels, at++) {
                    turned[place] = row[at];
                }
            }
            MemorySegment.copy(turned, 0, to, ValueLayout.JAVA_INT_UNALIGNED, i * size * Integer.BYTES, size);
        }
    }

    private static void move(int bytes, MemorySegment from, long at, MemorySegment to, long place) {
        if (bytes == Short.BYTES) {
            short bits = from.get(ValueLayout.JAVA_SHORT_UNALIGNED, Short.BYTES * at);
            to.set(ValueLayout.JAVA_SHORT_UNALIGNED, Short.BYTES * place, bits);
        } else {
            MemorySegment.copy(from, at * bytes, to, place * bytes, bytes);
        }
    }
}
