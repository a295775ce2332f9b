/**
 * Peers measured beside Tenon, in one process and alternating, so that a ratio holds when the machine's speed drifts.
 *
 * <p>Owns the peers. Nothing of the library depends on it.
 */
@NullMarked
package dev.tenon.bench;

import org.jspecify.annotations.NullMarked;
