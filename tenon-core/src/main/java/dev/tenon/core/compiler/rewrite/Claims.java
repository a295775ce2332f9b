package dev.tenon.core.compiler.rewrite;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import java.util.function.Predicate;

/** Whether a backend runs a node whole, rather than the pieces that stand for it. */
public interface Claims extends Predicate<Node> {
    /** Whether it may run a node of an operation of that kind whole: where not, none need be built to ask. */
    boolean mayClaim(Class<? extends Op> kind);
}
