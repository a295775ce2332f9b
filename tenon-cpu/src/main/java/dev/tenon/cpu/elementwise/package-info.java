/**
 * Elementwise operations, single or fused: a program over tiles.
 *
 * <p>Owns functions of one element. Does not own reductions or movement.
 */
@NullMarked
package dev.tenon.cpu.elementwise;

import org.jspecify.annotations.NullMarked;
