package dev.tenon.core.ir.op.quantisation;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;

/**
 * How the scales and zero points of a quantised tensor lie over it: one for all ([] or [1]), one for each index of an
 * axis ([n]), or, with a block, one for each run of so many elements along the axis (the tensor's rank, the axis
 * divided by the block and rounded up).
 */
record Scaling(String op, int axis, long block) {
    /** Checks attributes. */
    void check() {
        Rules.fromFront(op, axis);
        Expect.shape(block >= 0, op, () -> "block needs to be 0 (none) or more: " + block);
    }

    /** Checks a scale or a zero point against the tensor. */
    void check(String operand, Shape scale, Shape x) {
        if (scale.rank() == 0 || (scale.rank() == 1 && scale.dim(0).is(1))) {
            return;
        }
        Rules.axis(op, axis, x);
        if (block > 0) {
            Dim along = x.dim(axis);
            Dim blocks = along.isFixed() ? Dim.of(Math.ceilDiv(along.size(), block)) : Dim.unknown();
            Expect.same(op, operand, scale, x.with(axis, blocks));
        } else {
            Expect.same(op, operand, scale, Shape.of(x.dim(axis)));
        }
    }

    /** For each element of the tensor the index of its scale. */
    int[] map(Shape scale, Shape x) {
        int[] map = new int[SizeMath.toInt("quantisation scale", x.elements())];
        if (scale.elements() == 1) {
            return map;
        }
        long inner = x.elements(axis + 1, x.rank());
        long size = x.size(axis);
        long groups = block > 0 ? scale.size(axis) : 0;
        for (int i = 0; i < map.length; i++) {
            long along = i / inner % size;
            map[i] = (int) (block > 0 ? (i / (inner * size) * groups + along / block) * inner + i % inner : along);
        }
        return map;
    }

    /** A quotient as the backends compute it, in f32 unless f64 is asked for: it decides which integer is nearest. */
    static double quotient(double x, double scale, DType dtype) {
        return dtype == DType.F64 ? x / scale : (float) (x / scale);
    }
}
