/**
 * Softmax and the norms, over rows and over other axes.
 */
@NullMarked
package dev.tenon.cpu.norm;

import org.jspecify.annotations.NullMarked;
