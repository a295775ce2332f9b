/**
 * Reductions, extremes and where they are, running sums, the largest few.
 */
@NullMarked
package dev.tenon.core.ir.op.reduction;

import org.jspecify.annotations.NullMarked;
