package dev.tenon.cpu.loops;

import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;

/** Loops of which other loops do all that is not overridden. */
abstract class LoopsOverOthers extends Loops {
    final Loops others;

    LoopsOverOthers(Loops others) {
        this.others = others;
    }

    @Override
    float dot(MemorySegment a, long aOffset, MemorySegment b, long bOffset, int n) {
        return others.dot(a, aOffset, b, bOffset, n);
    }

    @Override
    public void mix(
            MemorySegment weights,
            long weightsOffset,
            MemorySegment v,
            long vOffset,
            int size,
            MemorySegment y,
            long yOffset,
            int n) {
        others.mix(weights, weightsOffset, v, vOffset, size, y, yOffset, n);
    }

    @Override
    public void binary(
            BinaryFn fn,
            MemorySegment a,
            long aOffset,
            MemorySegment b,
            long bOffset,
            MemorySegment y,
            long yOffset,
            int n) {
        others.binary(fn, a, aOffset, b, bOffset, y, yOffset, n);
    }

    @Override
    public void compare(
            CompareFn fn,
            MemorySegment a,
            long aOffset,
            MemorySegment b,
            long bOffset,
            MemorySegment y,
            long yOffset,
            int n) {
        others.compare(fn, a, aOffset, b, bOffset, y, yOffset, n);
    }

    @Override
    public void select(Place condition, Place a, Place b, Place y, int n) {
        others.select(condition, a, b, y, n);
    }

    @Override
    public float max(MemorySegment x, long xOffset, int n) {
        return others.max(x, xOffset, n);
    }

    @Override
    public float min(MemorySegment x, long xOffset, int n) {
        return others.min(x, xOffset, n);
    }

    @Override
    public double sum(MemorySegment x, long xOffset, long n) {
        return others.sum(x, xOffset, n);
    }
}
