/**
 * Float64 arithmetic that the references of several families share: walks over arrays, windows, exact sums, dense
 * products.
 */
@NullMarked
package dev.tenon.core.ir.reference;

import org.jspecify.annotations.NullMarked;
