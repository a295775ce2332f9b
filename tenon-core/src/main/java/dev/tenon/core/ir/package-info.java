/**
 * The graph: values with an element type and a shape, nodes in static single assignment form, operations, constants.
 *
 * <p>Owns what a graph means: types, the rules of every operation, the verifier, the text form and the float64 interpreter. Does not own how a graph is made faster ({@code compiler}) or run ({@code runtime} and the backends).
 */
@NullMarked
package dev.tenon.core.ir;

import org.jspecify.annotations.NullMarked;
