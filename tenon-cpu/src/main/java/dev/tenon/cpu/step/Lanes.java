package dev.tenon.cpu.step;

import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;

/** The one-dimensional runs of a tensor along an axis. */
public final class Lanes {
    /** Elements of a lane. */
    public final long size;
    /** From an element of a lane to the next one, and how many lanes lie side by side. */
    public final long stride;
    /** How many lanes there are. */
    public final long count;

    public Lanes(Shape shape, int axis) {
        this.size = shape.size(axis);
        this.stride = shape.elements(axis + 1, shape.rank());
        this.count = SizeMath.product("lanes", shape.elements(0, axis), stride);
    }

    /** The first element of a lane, of a tensor that has {@code length} elements along the axis. */
    public long first(long lane, long length) {
        return lane / stride * length * stride + lane % stride;
    }
}
