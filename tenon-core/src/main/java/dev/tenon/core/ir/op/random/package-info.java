/**
 * Random numbers and samples, from counters: the same on every backend.
 */
@NullMarked
package dev.tenon.core.ir.op.random;

import org.jspecify.annotations.NullMarked;
