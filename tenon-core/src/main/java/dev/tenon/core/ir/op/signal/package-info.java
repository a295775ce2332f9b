/**
 * Fourier transforms.
 */
@NullMarked
package dev.tenon.core.ir.op.signal;

import org.jspecify.annotations.NullMarked;
