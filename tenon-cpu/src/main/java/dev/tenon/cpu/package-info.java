/**
 * The CPU backend: plans become steps, steps run on a pool of workers over off-heap memory, hot loops are written on the Vector API with plain loops beside them.
 *
 * <p>Owns the kernels of this processor. Does not own fusion or memory planning (core's compiler).
 */
@NullMarked
package dev.tenon.cpu;

import org.jspecify.annotations.NullMarked;
