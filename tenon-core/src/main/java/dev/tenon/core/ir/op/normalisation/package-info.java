/**
 * Softmax and the norms.
 */
@NullMarked
package dev.tenon.core.ir.op.normalisation;

import org.jspecify.annotations.NullMarked;
