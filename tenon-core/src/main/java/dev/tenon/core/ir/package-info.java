/**
 * The graph: values with an element type and a shape, nodes in static single assignment form, operations, constants.
 *
 * <p>Owns what a graph means: types, the rules of every operation, the verifier, the text form and the float64
 * interpreter. Does not own how a graph is made faster ({@code compiler}) or run ({@code runtime} and the backends).
 *
 * <p>An operation is a {@code Primitive} (rules for types and shapes, and a meaning in float64), a {@code Composite} of
 * others, a {@code Deferred} one that waits for the values of some inputs, or {@code Control}, which runs a graph of
 * its own. The bytes of an inferred type fit 63 bits, so offsets within a value cannot overflow. Constants lie outside
 * the heap, dense or as one element for all. {@code HostMemory} bounds what dropped tensors hold there.
 */
@NullMarked
package dev.tenon.core.ir;

import org.jspecify.annotations.NullMarked;
