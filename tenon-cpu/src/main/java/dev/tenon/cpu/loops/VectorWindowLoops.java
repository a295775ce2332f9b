package dev.tenon.cpu.loops;

import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/**
 * The loops over windows on the Vector API, for strides of 1 and 2. Vectors stay local to one method each, see
 * {@link VectorLoops}. The last few positions of a maximum are a whole vector that overlaps the one before, which does
 * no harm; what adds up cannot be done twice. Each loop returns how many positions it did.
 */
final class VectorWindowLoops extends WindowLoops {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final long BYTES = 4L * LANES;
    private static final Class<?> NATIVE = Segments.NATIVE;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    /** The even elements of two vectors, one after the other. */
    private static final VectorShuffle<Float> EVEN = VectorShuffle.fromOp(SPECIES, i -> 2 * i % LANES);

    private static final VectorMask<Float> LOW = SPECIES.indexInRange(0, LANES / 2);

    @Override
    public String tier() {
        return "vector";
    }

    @Override
    public void correlate(Taps x, Matrix w, MemorySegment y, long yOffset, int n) {
        boolean fast = Segments.isNative(x.memory()) && Segments.isNative(w.memory()) && Segments.isNative(y);
        int i = 0;
        if (fast && x.stride() == 1 && MoveLoops.get().sums.ready()) {
            i = sums(x, w, y, yOffset, n);
        } else if (fast && x.stride() == 2 && MoveLoops.get().sumsOfSecond.ready()) {
            i = sumsOfSecond(x, w, y, yOffset, n);
        }
        super.correlate(x.from(i), w, y, yOffset + 4L * i, n - i);
    }

    static int sums(Taps x, Matrix w, MemorySegment y, long yOffset, int n) {
        MemorySegment source = x.memory();
        long xOffset = x.offset();
        int lines = x.lines();
        long xStep = x.step();
        int taps = x.count();
        long tap = 4L * x.dilation();
        MemorySegment weights = w.memory();
        long wOffset = w.offset();
        long wStep = w.stride();
        if (source.getClass() != NATIVE || weights.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        int i = 0;
        for (; i <= n - LANES; i += LANES) {
            FloatVector sum = FloatVector.fromMemorySegment(SPECIES, y, yOffset + 4L * i, ORDER);
            for (int line = 0; line < lines; line++) {
                long at = xOffset + line * xStep + 4L * i;
                long filter = wOffset + line * wStep;
                for (int j = 0; j < taps; j++) {
                    FloatVector v = FloatVector.fromMemorySegment(SPECIES, source, at + j * tap, ORDER);
                    sum = v.fma(FloatVector.broadcast(SPECIES, weights.get(Raw.F32, filter + 4L * j)), sum);
                }
            }
            sum.intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
        if (n - i >= 4) {
            VectorMask<Float> mask = SPECIES.indexInRange(i, n);
            FloatVector sum = FloatVector.fromMemorySegment(SPECIES, y, yOffset + 4L * i, ORDER, mask);
            for (int line = 0; line < lines; line++) {
                long at = xOffset + line * xStep + 4L * i;
                long filter = wOffset + line * wStep;
                for (int j = 0; j < taps; j++) {
                    FloatVector v = FloatVector.fromMemorySegment(SPECIES, source, at + j * tap, ORDER, mask);
                    sum = v.fma(FloatVector.broadcast(SPECIES, weights.get(Raw.F32, filter + 4L * j)), sum);
                }
            }
            sum.intoMemorySegment(y, yOffset + 4L * i, ORDER, mask);
            i = n;
        }
        return i;
    }

    static int sumsOfSecond(Taps x, Matrix w, MemorySegment y, long yOffset, int n) {
        MemorySegment source = x.memory();
        long xOffset = x.offset();
        int lines = x.lines();
        long xStep = x.step();
        int taps = x.count();
        long tap = 4L * x.dilation();
        MemorySegment weights = w.memory();
        long wOffset = w.offset();
        long wStep = w.stride();
        if (source.getClass() != NATIVE || weights.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        int i = 0;
        // the odd element behind the last even one may lie past the input
        for (; i < n - LANES; i += LANES) {
            FloatVector sum = FloatVector.fromMemorySegment(SPECIES, y, yOffset + 4L * i, ORDER);
            for (int line = 0; line < lines; line++) {
                long at = xOffset + line * xStep + 8L * i;
                long filter = wOffset + line * wStep;
                for (int j = 0; j < taps; j++) {
                    FloatVector low = FloatVector.fromMemorySegment(SPECIES, source, at + j * tap, ORDER);
                    FloatVector high = FloatVector.fromMemorySegment(SPECIES, source, at + j * tap + BYTES, ORDER);
                    FloatVector v = high.rearrange(EVEN).blend(low.rearrange(EVEN), LOW);
                    sum = v.fma(FloatVector.broadcast(SPECIES, weights.get(Raw.F32, filter + 4L * j)), sum);
                }
            }
            sum.intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
        return i;
    }

    @Override
    public void maximum(Taps x, MemorySegment y, long yOffset, int n) {
        boolean fast = Segments.isNative(x.memory()) && Segments.isNative(y);
        int i = 0;
        if (fast && x.stride() == 1 && MoveLoops.get().maxima.ready()) {
            i = maxima(x, y, yOffset, n);
        } else if (fast && x.stride() == 2 && MoveLoops.get().maximaOfSecond.ready()) {
            i = maximaOfSecond(x, y, yOffset, n);
        }
        super.maximum(x.from(i), y, yOffset + 4L * i, n - i);
    }

    static int maxima(Taps x, MemorySegment y, long yOffset, int n) {
        MemorySegment source = x.memory();
        long xOffset = x.offset();
        int lines = x.lines();
        long xStep = x.step();
        int taps = x.count();
        long tap = 4L * x.dilation();
        if (source.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        if (n < LANES) {
            return 0;
        }
        int i = 0;
        while (true) {
            FloatVector most = FloatVector.fromMemorySegment(SPECIES, y, yOffset + 4L * i, ORDER);
            for (int line = 0; line < lines; line++) {
                long at = xOffset + line * xStep + 4L * i;
                for (int j = 0; j < taps; j++) {
                    most = most.max(FloatVector.fromMemorySegment(SPECIES, source, at + j * tap, ORDER));
                }
            }
            most.intoMemorySegment(y, yOffset + 4L * i, ORDER);
            if (i == n - LANES) {
                return n;
            }
            i = Math.min(i + LANES, n - LANES);
        }
    }

    static int maximaOfSecond(Taps x, MemorySegment y, long yOffset, int n) {
        MemorySegment source = x.memory();
        long xOffset = x.offset();
        int lines = x.lines();
        long xStep = x.step();
        int taps = x.count();
        long tap = 4L * x.dilation();
        if (source.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        if (n <= LANES) {
            return 0;
        }
        int i = 0;
        // the odd element behind the last even one may lie past the input, so one position is left over
        while (true) {
            FloatVector most = FloatVector.fromMemorySegment(SPECIES, y, yOffset + 4L * i, ORDER);
            for (int line = 0; line < lines; line++) {
                long at = xOffset + line * xStep + 8L * i;
                for (int j = 0; j < taps; j++) {
                    FloatVector low = FloatVector.fromMemorySegment(SPECIES, source, at + j * tap, ORDER);
                    FloatVector high = FloatVector.fromMemorySegment(SPECIES, source, at + j * tap + BYTES, ORDER);
                    most = most.max(high.rearrange(EVEN).blend(low.rearrange(EVEN), LOW));
                }
            }
            most.intoMemorySegment(y, yOffset + 4L * i, ORDER);
            if (i == n - 1 - LANES) {
                return n - 1;
            }
            i = Math.min(i + LANES, n - 1 - LANES);
        }
    }

    @Override
    public void correlate(
            MemorySegment memory, int[] taps, MemorySegment w, long wOffset, float start, long yOffset, int n) {
        if (MoveLoops.get().planeSums.ready() && Segments.isNative(memory) && Segments.isNative(w)) {
            planeSums(memory, taps, w, wOffset, start, yOffset, n);
        } else {
            super.correlate(memory, taps, w, wOffset, start, yOffset, n);
        }
    }

    static void planeSums(
            MemorySegment memory, int[] taps, MemorySegment w, long wOffset, float start, long yOffset, int n) {
        if (memory.getClass() != NATIVE || w.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += 4 * LANES) {
            FloatVector a = FloatVector.broadcast(SPECIES, start);
            FloatVector b = a;
            FloatVector c = a;
            FloatVector d = a;
            long first = 4L * i;
            for (int j = 0; j < taps.length; j++) {
                long at = first + taps[j];
                FloatVector weight = FloatVector.broadcast(SPECIES, w.get(Raw.F32, wOffset + 4L * j));
                a = FloatVector.fromMemorySegment(SPECIES, memory, at, ORDER).fma(weight, a);
                b = FloatVector.fromMemorySegment(SPECIES, memory, at + BYTES, ORDER)
                        .fma(weight, b);
                c = FloatVector.fromMemorySegment(SPECIES, memory, at + 2 * BYTES, ORDER)
                        .fma(weight, c);
                d = FloatVector.fromMemorySegment(SPECIES, memory, at + 3 * BYTES, ORDER)
                        .fma(weight, d);
            }
            a.intoMemorySegment(memory, yOffset + first, ORDER);
            b.intoMemorySegment(memory, yOffset + first + BYTES, ORDER);
            c.intoMemorySegment(memory, yOffset + first + 2 * BYTES, ORDER);
            d.intoMemorySegment(memory, yOffset + first + 3 * BYTES, ORDER);
        }
    }

    @Override
    public void maximum(MemorySegment memory, int[] taps, long yOffset, int n) {
        if (MoveLoops.get().planeMaxima.ready() && Segments.isNative(memory)) {
            planeMaxima(memory, taps, yOffset, n);
        } else {
            super.maximum(memory, taps, yOffset, n);
        }
    }

    static void planeMaxima(MemorySegment memory, int[] taps, long yOffset, int n) {
        if (memory.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector most = FloatVector.fromMemorySegment(SPECIES, memory, taps[0] + 4L * i, ORDER);
            for (int j = 1; j < taps.length; j++) {
                most = most.max(FloatVector.fromMemorySegment(SPECIES, memory, taps[j] + 4L * i, ORDER));
            }
            most.intoMemorySegment(memory, yOffset + 4L * i, ORDER);
        }
    }

    @Override
    public void everyOther(MemorySegment x, long xOffset, int stride, MemorySegment y, long yOffset, int n) {
        boolean fast =
                stride == 2 && MoveLoops.get().everySecond.ready() && Segments.isNative(x) && Segments.isNative(y);
        int i = fast ? everySecond(x, xOffset, y, yOffset, n) : 0;
        super.everyOther(x, xOffset + 4L * i * stride, stride, y, yOffset + 4L * i, n - i);
    }

    static int everySecond(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        int i = 0;
        // the odd element behind the last even one may lie past the input
        for (; i < n - LANES; i += LANES) {
            FloatVector low = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 8L * i, ORDER);
            FloatVector high = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 8L * i + BYTES, ORDER);
            high.rearrange(EVEN).blend(low.rearrange(EVEN), LOW).intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
        return i;
    }

    @Override
    public void multiplyAdd(MemorySegment x, long xOffset, float factor, MemorySegment y, long yOffset, int n) {
        boolean fast = MoveLoops.get().multiplyAdd.ready() && Segments.isNative(x) && Segments.isNative(y);
        int i = fast ? products(x, xOffset, factor, y, yOffset, n) : 0;
        super.multiplyAdd(x, xOffset + 4L * i, factor, y, yOffset + 4L * i, n - i);
    }

    static int products(MemorySegment x, long xOffset, float factor, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        int i = 0;
        FloatVector weight = FloatVector.broadcast(SPECIES, factor);
        for (; i <= n - LANES; i += LANES) {
            FloatVector v = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            FloatVector sum = FloatVector.fromMemorySegment(SPECIES, y, yOffset + 4L * i, ORDER);
            v.fma(weight, sum).intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
        return i;
    }
}
