/**
 * Runs of steps that one resident launch does: which nodes of a plan make one, the phases that they become, and how
 * those are spread over a device.
 *
 * <p>Owns no operation: what a resident launch does not take, or does later than launches of their own, the families'
 * lowerings do.
 */
@NullMarked
package dev.tenon.cuda.lower.resident;

import org.jspecify.annotations.NullMarked;
