package dev.tenon.core.compiler;

import dev.tenon.core.ir.Node;
import java.util.function.Predicate;

/**
 * What passes may know beside the graph.
 *
 * @param claims whether the backend runs a node whole, rather than the pieces that stand for it
 */
record PassContext(Predicate<Node> claims) {}
