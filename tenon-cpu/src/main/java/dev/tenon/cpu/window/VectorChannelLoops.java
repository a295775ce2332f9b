package dev.tenon.cpu.window;

import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorSpecies;

/**
 * The loops over windows of neighbouring channels on the Vector API, for a vector of channels at least. The last vector
 * overlaps the one before it. Vectors stay local to one method each.
 */
final class VectorChannelLoops extends ChannelLoops {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    static final int LANES = SPECIES.length();
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    @Override
    public String tier() {
        return "vector";
    }

    @Override
    public void weigh(ChannelWindow x, Matrix w, Place bias, Place y, int positions, int channels) {
        boolean fast = Segments.isNative(x.memory())
                && Segments.isNative(y.memory())
                && Segments.isNative(w.memory())
                && (bias.isNone() || Segments.isNative(bias.memory()))
                && ChannelHotLoops.get().weigh.ready();
        if (!fast) {
            super.weigh(x, w, bias, y, positions, channels);
            return;
        }
        if (channels >= LANES) {
            weighed(x, w, bias, y, positions, channels);
        } else {
            weighedFew(x, w, bias, y, positions, channels);
        }
    }

    private static boolean fits(ChannelWindow x, Place y, int channels) {
        return channels >= LANES && Segments.isNative(x.memory()) && Segments.isNative(y.memory());
    }

    /** Four positions at a time share a load of the weights. */
    static void weighed(ChannelWindow x, Matrix w, Place bias, Place y, int positions, int channels) {
        MemorySegment source = x.memory();
        MemorySegment weights = w.memory();
        MemorySegment target = y.memory();
        MemorySegment biases = bias.isNone() ? weights : bias.memory();
        boolean biased = !bias.isNone();
        Segments.requireNative(source, weights);
        Segments.requireNative(target, biases);
        int lines = x.lines();
        long lineStep = x.lineStep();
        int cells = x.cells();
        long cellStep = x.cellStep();
        long step = x.step();
        long row = 4L * channels;
        int c = 0;
        while (true) {
            FloatVector start = biased
                    ? FloatVector.fromMemorySegment(SPECIES, biases, bias.offset() + 4L * c, ORDER)
                    : FloatVector.zero(SPECIES);
            long first = x.at() + 4L * c;
            long filter = w.offset() + 4L * c;
            long to = y.offset() + 4L * c;
            for (int p = 0; p <= positions - 4; p += 4) {
                FloatVector s0 = start;
                FloatVector s1 = start;
                FloatVector s2 = start;
                FloatVector s3 = start;
                for (int line = 0; line < lines; line++) {
                    long at = first + p * step + line * lineStep;
                    long from = filter + line * w.stride();
                    for (int cell = 0; cell < cells; cell++, at += cellStep, from += row) {
                        FloatVector v = FloatVector.fromMemorySegment(SPECIES, weights, from, ORDER);
                        s0 = FloatVector.fromMemorySegment(SPECIES, source, at, ORDER)
                                .fma(v, s0);
                        s1 = FloatVector.fromMemorySegment(SPECIES, source, at + step, ORDER)
                                .fma(v, s1);
                        s2 = FloatVector.fromMemorySegment(SPECIES, source, at + 2 * step, ORDER)
                                .fma(v, s2);
                        s3 = FloatVector.fromMemorySegment(SPECIES, source, at + 3 * step, ORDER)
                                .fma(v, s3);
                    }
                }
                s0.intoMemorySegment(target, to + p * row, ORDER);
                s1.intoMemorySegment(target, to + p * row + row, ORDER);
                s2.intoMemorySegment(target, to + p * row + 2 * row, ORDER);
                s3.intoMemorySegment(target, to + p * row + 3 * row, ORDER);
            }
            if (c == channels - LANES) {
                break;
            }
            c = Math.min(c + LANES, channels - LANES);
        }
        weighedApart(x, w, bias, y, positions & -4, positions, channels);
    }

    /** The positions from {@code first} on, one by one. */
    private static void weighedApart(
            ChannelWindow x, Matrix w, Place bias, Place y, int first, int positions, int channels) {
        MemorySegment source = x.memory();
        MemorySegment weights = w.memory();
        MemorySegment target = y.memory();
        MemorySegment biases = bias.isNone() ? weights : bias.memory();
        Segments.requireNative(source, weights);
        Segments.requireNative(target, biases);
        long row = 4L * channels;
        for (int p = first; p < positions; p++) {
            int c = 0;
            while (true) {
                FloatVector sum = bias.isNone()
                        ? FloatVector.zero(SPECIES)
                        : FloatVector.fromMemorySegment(SPECIES, biases, bias.offset() + 4L * c, ORDER);
                for (int line = 0; line < x.lines(); line++) {
                    long at = x.at() + 4L * c + p * x.step() + line * x.lineStep();
                    long from = w.offset() + 4L * c + line * w.stride();
                    for (int cell = 0; cell < x.cells(); cell++, at += x.cellStep(), from += row) {
                        FloatVector v = FloatVector.fromMemorySegment(SPECIES, weights, from, ORDER);
                        sum = FloatVector.fromMemorySegment(SPECIES, source, at, ORDER)
                                .fma(v, sum);
                    }
                }
                sum.intoMemorySegment(target, y.offset() + 4L * c + p * row, ORDER);
                if (c == channels - LANES) {
                    break;
                }
                c = Math.min(c + LANES, channels - LANES);
            }
        }
    }

    /** Fewer channels than a vector has lanes. */
    static void weighedFew(ChannelWindow x, Matrix w, Place bias, Place y, int positions, int channels) {
        MemorySegment source = x.memory();
        MemorySegment weights = w.memory();
        MemorySegment target = y.memory();
        MemorySegment biases = bias.isNone() ? weights : bias.memory();
        Segments.requireNative(source, weights);
        Segments.requireNative(target, biases);
        VectorMask<Float> mask = SPECIES.indexInRange(0, channels);
        FloatVector start = bias.isNone()
                ? FloatVector.zero(SPECIES)
                : FloatVector.fromMemorySegment(SPECIES, biases, bias.offset(), ORDER, mask);
        for (int p = 0; p < positions; p++) {
            FloatVector sum = start;
            for (int line = 0; line < x.lines(); line++) {
                long at = x.at() + p * x.step() + line * x.lineStep();
                long from = w.offset() + line * w.stride();
                for (int cell = 0; cell < x.cells(); cell++, at += x.cellStep(), from += 4L * channels) {
                    FloatVector v = FloatVector.fromMemorySegment(SPECIES, weights, from, ORDER, mask);
                    sum = FloatVector.fromMemorySegment(SPECIES, source, at, ORDER, mask)
                            .fma(v, sum);
                }
            }
            sum.intoMemorySegment(target, y.offset() + 4L * channels * p, ORDER, mask);
        }
    }

    @Override
    public void maximum(ChannelWindow x, Place y, int positions, int channels) {
        if (fits(x, y, channels) && ChannelHotLoops.get().maximum.ready()) {
            maxima(x, y, positions, channels);
        } else {
            super.maximum(x, y, positions, channels);
        }
    }

    static void maxima(ChannelWindow x, Place y, int positions, int channels) {
        MemorySegment source = x.memory();
        MemorySegment target = y.memory();
        Segments.requireNative(source, target);
        for (int p = 0; p < positions; p++) {
            long to = y.offset() + 4L * channels * p;
            int c = 0;
            while (true) {
                FloatVector most = FloatVector.broadcast(SPECIES, Float.NEGATIVE_INFINITY);
                for (int line = 0; line < x.lines(); line++) {
                    long at = x.at() + p * x.step() + line * x.lineStep() + 4L * c;
                    for (int cell = 0; cell < x.cells(); cell++, at += x.cellStep()) {
                        most = most.max(FloatVector.fromMemorySegment(SPECIES, source, at, ORDER));
                    }
                }
                most.intoMemorySegment(target, to + 4L * c, ORDER);
                if (c == channels - LANES) {
                    break;
                }
                c = Math.min(c + LANES, channels - LANES);
            }
        }
    }

    @Override
    public void average(ChannelWindow x, float divisor, Place y, int positions, int channels) {
        if (fits(x, y, channels) && ChannelHotLoops.get().average.ready()) {
            averages(x, divisor, y, positions, channels);
        } else {
            super.average(x, divisor, y, positions, channels);
        }
    }

    static void averages(ChannelWindow x, float divisor, Place y, int positions, int channels) {
        MemorySegment source = x.memory();
        MemorySegment target = y.memory();
        Segments.requireNative(source, target);
        for (int p = 0; p < positions; p++) {
            long to = y.offset() + 4L * channels * p;
            int c = 0;
            while (true) {
                FloatVector sum = FloatVector.zero(SPECIES);
                for (int line = 0; line < x.lines(); line++) {
                    long at = x.at() + p * x.step() + line * x.lineStep() + 4L * c;
                    for (int cell = 0; cell < x.cells(); cell++, at += x.cellStep()) {
                        sum = sum.add(FloatVector.fromMemorySegment(SPECIES, source, at, ORDER));
                    }
                }
                sum.div(divisor).intoMemorySegment(target, to + 4L * c, ORDER);
                if (c == channels - LANES) {
                    break;
                }
                c = Math.min(c + LANES, channels - LANES);
            }
        }
    }
}
