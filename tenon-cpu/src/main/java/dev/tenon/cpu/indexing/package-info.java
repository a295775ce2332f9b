/**
 * Reads from and writes to places that indices name.
 */
@NullMarked
package dev.tenon.cpu.indexing;

import org.jspecify.annotations.NullMarked;
