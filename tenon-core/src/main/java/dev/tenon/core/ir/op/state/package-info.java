/**
 * Layers that carry a state along a sequence.
 */
@NullMarked
package dev.tenon.core.ir.op.state;

import org.jspecify.annotations.NullMarked;
