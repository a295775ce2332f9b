/**
 * Sums of products: matrix products, einsum, products with packed weights, and what they do to a result before it is
 * written.
 */
@NullMarked
package dev.tenon.core.ir.op.contraction;

import org.jspecify.annotations.NullMarked;
