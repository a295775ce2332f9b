/**
 * The operations: one record each, with its shape rule, type rule and float64 reference (primitives), its decomposition (composites) or its resolution (deferred).
 *
 * <p>Owns the meaning of each operation. Does not own its speed: that is the backends'.
 */
@NullMarked
package dev.tenon.core.ir.op;

import org.jspecify.annotations.NullMarked;
