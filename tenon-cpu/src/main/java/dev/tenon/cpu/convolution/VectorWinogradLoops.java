package dev.tenon.cpu.convolution;

import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Winograd's transformations on the Vector API, for a vector of elements at least. The last vector overlaps the one
 * before it. Vectors stay local to one method each.
 */
final class VectorWinogradLoops extends WinogradLoops {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private static boolean fits(Rows x, Rows y, int n) {
        return n >= LANES && Segments.isNative(x.memory()) && Segments.isNative(y.memory());
    }

    @Override
    void six(Rows x, Rows y, int n) {
        if (fits(x, y, n) && WinogradHotLoops.get().six.ready()) {
            sixes(x, y, n);
        } else {
            super.six(x, y, n);
        }
    }

    static void sixes(Rows x, Rows y, int n) {
        MemorySegment source = x.memory();
        MemorySegment target = y.memory();
        Segments.requireNative(source, target);
        long from = x.step();
        long to = y.step();
        int i = 0;
        while (true) {
            long at = x.at() + 4L * i;
            FloatVector a = FloatVector.fromMemorySegment(SPECIES, source, at, ORDER);
            FloatVector b = FloatVector.fromMemorySegment(SPECIES, source, at + from, ORDER);
            FloatVector c = FloatVector.fromMemorySegment(SPECIES, source, at + 2 * from, ORDER);
            FloatVector d = FloatVector.fromMemorySegment(SPECIES, source, at + 3 * from, ORDER);
            FloatVector e = FloatVector.fromMemorySegment(SPECIES, source, at + 4 * from, ORDER);
            FloatVector f = FloatVector.fromMemorySegment(SPECIES, source, at + 5 * from, ORDER);
            FloatVector four = FloatVector.broadcast(SPECIES, 4);
            FloatVector even = e.sub(c.mul(four));
            FloatVector odd = d.sub(b.mul(four));
            FloatVector near = e.sub(c);
            FloatVector far = d.sub(b);
            far = far.add(far);
            long first = y.at() + 4L * i;
            a.sub(c).fma(four, near).intoMemorySegment(target, first, ORDER);
            even.add(odd).intoMemorySegment(target, first + to, ORDER);
            even.sub(odd).intoMemorySegment(target, first + 2 * to, ORDER);
            near.add(far).intoMemorySegment(target, first + 3 * to, ORDER);
            near.sub(far).intoMemorySegment(target, first + 4 * to, ORDER);
            b.sub(d).fma(four, f.sub(d)).intoMemorySegment(target, first + 5 * to, ORDER);
            if (i == n - LANES) {
                return;
            }
            i = Math.min(i + LANES, n - LANES);
        }
    }

    @Override
    void four(Rows x, Rows y, int rows, Place bias, int n) {
        boolean fast = fits(x, y, n) && (bias.isNone() || Segments.isNative(bias.memory()));
        if (fast && WinogradHotLoops.get().four.ready()) {
            fours(x, y, rows, bias, n);
        } else {
            super.four(x, y, rows, bias, n);
        }
    }

    static void fours(Rows x, Rows y, int rows, Place bias, int n) {
        MemorySegment source = x.memory();
        MemorySegment target = y.memory();
        boolean biased = !bias.isNone();
        MemorySegment biases = biased ? bias.memory() : source;
        Segments.requireNative(source, target);
        Segments.requireNative(source, biases);
        long from = x.step();
        long to = y.step();
        int i = 0;
        while (true) {
            long at = x.at() + 4L * i;
            FloatVector a = FloatVector.fromMemorySegment(SPECIES, source, at, ORDER);
            FloatVector b = FloatVector.fromMemorySegment(SPECIES, source, at + from, ORDER);
            FloatVector c = FloatVector.fromMemorySegment(SPECIES, source, at + 2 * from, ORDER);
            FloatVector d = FloatVector.fromMemorySegment(SPECIES, source, at + 3 * from, ORDER);
            FloatVector e = FloatVector.fromMemorySegment(SPECIES, source, at + 4 * from, ORDER);
            FloatVector f = FloatVector.fromMemorySegment(SPECIES, source, at + 5 * from, ORDER);
            FloatVector start = biased
                    ? FloatVector.fromMemorySegment(SPECIES, biases, bias.offset() + 4L * i, ORDER)
                    : FloatVector.zero(SPECIES);
            FloatVector near = b.add(c).add(start);
            FloatVector nearer = b.sub(c).add(start);
            FloatVector far = d.add(e);
            FloatVector farther = d.sub(e);
            long first = y.at() + 4L * i;
            near.add(a).add(far).intoMemorySegment(target, first, ORDER);
            if (rows > 1) {
                farther.fma(FloatVector.broadcast(SPECIES, 2), nearer).intoMemorySegment(target, first + to, ORDER);
            }
            if (rows > 2) {
                far.fma(FloatVector.broadcast(SPECIES, 4), near).intoMemorySegment(target, first + 2 * to, ORDER);
            }
            if (rows > 3) {
                farther.fma(FloatVector.broadcast(SPECIES, 8), nearer)
                        .add(f)
                        .intoMemorySegment(target, first + 3 * to, ORDER);
            }
            if (i == n - LANES) {
                return;
            }
            i = Math.min(i + LANES, n - LANES);
        }
    }
}
