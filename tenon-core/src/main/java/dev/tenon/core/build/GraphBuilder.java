package dev.tenon.core.build;

import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.PlainGraphBuilder;
import java.util.function.Consumer;

/** Makes one graph in words: {@link Ops} over {@link PlainGraphBuilder}, whose rules hold. Not thread-safe. */
public final class GraphBuilder extends PlainGraphBuilder implements Ops {
    public GraphBuilder(String name) {
        super(name);
    }

    /** Builds and verifies a graph: {@code GraphBuilder.build("head", g -> { Value x = g.input(…); …; g.output("p", y); })}. */
    public static Graph build(String name, Consumer<GraphBuilder> body) {
        GraphBuilder builder = new GraphBuilder(name);
        body.accept(builder);
        return builder.build();
    }
}
