/**
 * Convolutions.
 */
@NullMarked
package dev.tenon.core.ir.op.convolution;

import org.jspecify.annotations.NullMarked;
