/**
 * Checks of kernels against float64, for any platform behind the ports: tests and {@code tenon kernels run} go through
 * the same cases.
 *
 * <p>Owns the cases and their references; does not own kernels.
 */
@NullMarked
package dev.tenon.cuda.check;

import org.jspecify.annotations.NullMarked;
