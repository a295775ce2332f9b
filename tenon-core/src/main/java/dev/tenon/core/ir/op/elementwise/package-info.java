/**
 * Operations on elements, and the scalar functions behind them.
 */
@NullMarked
package dev.tenon.core.ir.op.elementwise;

import org.jspecify.annotations.NullMarked;
