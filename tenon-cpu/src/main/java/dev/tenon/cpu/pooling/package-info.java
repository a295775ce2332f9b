/**
 * Reductions over sliding windows.
 */
@NullMarked
package dev.tenon.cpu.pooling;

import org.jspecify.annotations.NullMarked;
