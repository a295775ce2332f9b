/**
 * Tensors: what a run takes and gives.
 *
 * <p>Owns elements on the host, and what a device keeps for a tensor. Does not own devices.
 */
@NullMarked
package dev.tenon.core.tensor;

import org.jspecify.annotations.NullMarked;
