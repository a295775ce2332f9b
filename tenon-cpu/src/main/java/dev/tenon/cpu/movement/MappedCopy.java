package dev.tenon.cpu.movement;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A copy whose source index is a function of the target index, axis by axis; elements without a source take a fill.
 * Padding and nearest-neighbour resampling.
 */
public final class MappedCopy extends LoopStep {
    /** In a map: no source, the fill. */
    public static final int FILL = -1;

    /** Which bits fill: fixed ones, or the element that an input holds. */
    public record Fill(int slot, long bits) {
        public static Fill of(long bits) {
            return new Fill(-1, bits);
        }

        long bits(CpuFrame frame, DType dtype) {
            return slot < 0 ? bits : Elements.bits(dtype, frame.at(slot), 0);
        }
    }

    /**
     * An axis of the target: how far apart its indices are in the source, and where each comes from; null for the same
     * index.
     */
    private static final class Axis {
        private final long size;
        private final long stride;
        private final int @Nullable [] map;

        Axis(long size, long stride, int @Nullable [] map) {
            this.size = size;
            this.stride = stride;
            this.map = map;
        }

        /** The source offset of an index, or -1 for the fill. */
        long offset(long index) {
            if (map == null) {
                return index * stride;
            }
            int mapped = map[(int) index];
            return mapped == FILL ? FILL : mapped * stride;
        }
    }

    private final DType dtype;
    private final Axis[] outer;
    private final Axis inner;
    private final long block;
    private final int[] runStarts;
    /** The inner map where 4-byte elements are gathered one by one, else null. */
    private final int @Nullable [] words;

    private final Fill fill;
    private final int input;
    private final int output;

    private MappedCopy(
            DType dtype, List<Axis> outer, Axis inner, long block, int[] runStarts, Fill fill, int input, int output) {
        long rows = inner.size * block == 0 ? 0 : 1;
        for (Axis axis : outer) {
            rows *= axis.size;
        }
        super("copy", rows, inner.size * block);
        this.dtype = dtype;
        this.outer = outer.toArray(Axis[]::new);
        this.inner = inner;
        this.block = block;
        this.runStarts = runStarts;
        this.words = block == 1 && dtype.bits() == 32 && runStarts.length > inner.size / 4 ? inner.map : null;
        this.fill = fill;
        this.input = input;
        this.output = output;
    }

    /** A map that may be null where the sizes agree and every index is its own source. */
    public static MappedCopy of(
            DType dtype, long[] from, long[] to, int[] @Nullable [] maps, Fill fill, int input, int output) {
        List<Axis> axes = new ArrayList<>();
        long stride = 1;
        long block = 1;
        for (int i = to.length - 1; i >= 0; i--) {
            int[] map = maps[i];
            if (map == null && axes.isEmpty()) {
                block *= to[i];
            } else if (map == null && axes.getFirst().map == null) {
                // neighbours that are both copied as they are make one axis
                Axis next = axes.getFirst();
                axes.set(0, new Axis(to[i] * next.size, next.stride, null));
            } else {
                axes.addFirst(new Axis(to[i], stride, map));
            }
            stride *= from[i];
        }
        Axis inner = axes.isEmpty() ? new Axis(1, block, null) : axes.removeLast();
        return new MappedCopy(dtype, axes, inner, block, runs(inner), fill, input, output);
    }

    /** A map from a function of the index. */
    public static int[] map(long size, java.util.function.LongToIntFunction source) {
        if (size > Integer.MAX_VALUE - 8) {
            throw new UnsupportedException("a dim of " + size + " elements is too large to pad or resample on the CPU");
        }
        int[] map = new int[(int) size];
        for (int i = 0; i < map.length; i++) {
            map[i] = source.applyAsInt(i);
        }
        return map;
    }

    /** Where each stretch of consecutive sources, or of fill, begins; then the end. */
    private static int[] runs(Axis inner) {
        int[] map = inner.map;
        if (map == null) {
            return new int[] {0, SizeMath.toInt("copy", inner.size)};
        }
        List<Integer> starts = new ArrayList<>();
        for (int i = 0; i < map.length; i++) {
            boolean goesOn =
                    i > 0 && (map[i] == FILL ? map[i - 1] == FILL : map[i - 1] != FILL && map[i] == map[i - 1] + 1);
            if (!goesOn) {
                starts.add(i);
            }
        }
        starts.add(map.length);
        return starts.stream().mapToInt(Integer::intValue).toArray();
    }

    @Override
    public boolean isSerial() {
        return Raw.isPacked(dtype);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment source = frame.at(input);
        MemorySegment target = frame.at(output);
        long bits = fill.bits(frame, dtype);
        long length = inner.size * block;
        long before = FILL;
        for (long row = from; row < to; row++) {
            long rest = row;
            long offset = 0;
            for (int i = outer.length - 1; i >= 0 && offset >= 0; i--) {
                Axis axis = outer[i];
                long part = axis.offset(rest % axis.size);
                rest /= axis.size;
                offset = part < 0 ? FILL : offset + part;
            }
            if (offset < 0) {
                Raw.fillElements(dtype, target, row * length, length, bits);
            } else if (offset == before) {
                // rows of an enlargement, or of a repeated edge, come again
                Raw.copyElements(dtype, target, (row - 1) * length, target, row * length, length);
            } else if (words != null) {
                words(source, offset, words, target, row * length, (int) bits);
            } else {
                row(source, offset, target, row * length, bits);
            }
            before = offset;
        }
    }

    private void row(MemorySegment source, long offset, MemorySegment target, long at, long bits) {
        for (int run = 0; run + 1 < runStarts.length; run++) {
            int start = runStarts[run];
            long count = (runStarts[run + 1] - start) * block;
            long part = inner.offset(start);
            if (part < 0) {
                Raw.fillElements(dtype, target, at + start * block, count, bits);
            } else {
                Raw.copyElements(dtype, source, offset + part, target, at + start * block, count);
            }
        }
    }

    /** Short runs of 4-byte elements: a plain gather is faster than their bookkeeping. */
    private void words(MemorySegment source, long offset, int[] map, MemorySegment target, long at, int bits) {
        for (int i = 0; i < map.length; i++) {
            int index = map[i];
            int value = index == FILL ? bits : source.get(Raw.I32, (offset + index * inner.stride) * 4);
            target.set(Raw.I32, (at + i) * 4, value);
        }
    }
}
