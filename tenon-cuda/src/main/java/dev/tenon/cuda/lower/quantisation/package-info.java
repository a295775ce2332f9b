/** Lowering of quantisation: integers from floats by scales and zero points, and back. */
@NullMarked
package dev.tenon.cuda.lower.quantisation;

import org.jspecify.annotations.NullMarked;
