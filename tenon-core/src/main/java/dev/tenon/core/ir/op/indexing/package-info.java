/**
 * Reads from and writes to places that indices name.
 */
@NullMarked
package dev.tenon.core.ir.op.indexing;

import org.jspecify.annotations.NullMarked;
