/**
 * Branches and loops.
 */
@NullMarked
package dev.tenon.core.ir.op.control;

import org.jspecify.annotations.NullMarked;
