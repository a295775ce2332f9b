package dev.tenon.core.ir.op.image;

/** How a coordinate is rounded to the nearest element. */
public enum NearestMode {
    ROUND_PREFER_FLOOR,
    ROUND_PREFER_CEIL,
    FLOOR,
    CEIL
}
