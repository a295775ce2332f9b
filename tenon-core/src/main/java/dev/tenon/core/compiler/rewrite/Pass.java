package dev.tenon.core.compiler.rewrite;

import dev.tenon.core.ir.Graph;

/** One named step of the compiler: a graph in, an equal graph out. Stateless. */
public interface Pass {
    /** The name that {@code --dump-ir=after:NAME} knows it by. */
    String name();

    Graph apply(Graph graph, PassContext context);
}
