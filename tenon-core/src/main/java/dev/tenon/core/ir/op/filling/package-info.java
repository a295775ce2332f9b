/**
 * Shapes as values, and values made from shapes.
 */
@NullMarked
package dev.tenon.core.ir.op.filling;

import org.jspecify.annotations.NullMarked;
