/**
 * Operations that move elements and change none.
 */
@NullMarked
package dev.tenon.core.ir.op.movement;

import org.jspecify.annotations.NullMarked;
