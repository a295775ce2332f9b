package dev.tenon.core.build;

import dev.tenon.core.error.Require;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.PlainGraphBuilder;
import dev.tenon.core.ir.Value;
import dev.tenon.core.tensor.Tensor;
import java.util.function.Consumer;

/** Makes one graph in words: {@link Ops} over {@link PlainGraphBuilder}, whose rules hold. Not thread-safe. */
public final class GraphBuilder extends PlainGraphBuilder implements Ops {
    /**
     * Starts a graph.
     *
     * @param name for messages and reports
     */
    public GraphBuilder(String name) {
        super(name);
    }

    /** Begins a graph with the name, inputs and parameters of another, whose nodes it may {@link #keep}. */
    public GraphBuilder(Graph source) {
        super(source);
    }

    /**
     * Builds and verifies a graph: {@code GraphBuilder.build("head", g -> { Value x = g.input(…); …; g.output("p", y);
     * })}.
     *
     * @throws dev.tenon.core.error.VerificationException with all findings
     */
    public static Graph build(String name, Consumer<GraphBuilder> body) {
        Require.nonNull(body, "body");
        GraphBuilder builder = new GraphBuilder(name);
        body.accept(builder);
        return builder.build();
    }

    /**
     * Adds a tensor as part of the graph. Its memory is used where every thread may read it, and then must not change;
     * else it is copied.
     */
    public Value constant(Tensor tensor) {
        Require.nonNull(tensor, "tensor");
        tensor.requireReadable("constant");
        return constant(new ConstantData.Dense(tensor.type(), tensor.everywhere()));
    }
}
