package dev.tenon.cpu.loops;

/**
 * How f32 become bytes: round(x / scale) + zero between least and largest.
 *
 * @param zero an integer, as are the bounds
 */
public record ByteScale(float scale, float zero, float least, float largest) {}
