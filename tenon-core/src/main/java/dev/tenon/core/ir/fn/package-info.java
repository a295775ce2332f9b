/**
 * Functions of one, two or many numbers, by name.
 *
 * <p>Owns which functions there are and what is true of each. Does not own operations on tensors.
 */
@NullMarked
package dev.tenon.core.ir.fn;

import org.jspecify.annotations.NullMarked;
