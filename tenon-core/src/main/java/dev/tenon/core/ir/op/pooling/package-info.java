/**
 * Reductions over windows and regions, and their inverse.
 */
@NullMarked
package dev.tenon.core.ir.op.pooling;

import org.jspecify.annotations.NullMarked;
