package dev.tenon.models.embedding;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What an encoder runs: the model, then pooling, dense layers and scaling, all in one graph, so that only vectors leave
 * the device.
 */
final class EncoderGraph {
    /** The only output: [texts, components]. */
    static final String VECTORS = "tenon.vectors";

    /** The inputs, one a pooling: the weight of each token, f32 [texts, tokens]. */
    static final String WEIGHTS = "tenon.pooling.";

    private EncoderGraph() {}

    /**
     * The model with pooling.
     *
     * @param finished whether dense layers and scaling come behind it; else {@link #head} is run on its vectors
     * @throws UnsupportedException when the output is no [texts, tokens, width] and no [texts, width]
     */
    static Graph body(Graph model, EncoderSetup setup, @Nullable Integer dimensions, boolean finished) {
        return GraphBuilder.build(model.name(), g -> {
            Value output = Objects.requireNonNull(g.include(model).get(setup.output()));
            Shape shape = output.shape();
            if (!shape.isRanked() || (shape.rank() != 2 && shape.rank() != 3)) {
                throw new UnsupportedException("the output " + setup.output() + " is " + output.type()
                        + ", an encoder gives [batch, tokens, width] or [batch, width]");
            }
            Value floats = output.dtype() == DType.F32 ? output : g.cast(output, DType.F32);
            Value vectors = shape.rank() == 2 ? floats : pooled(g, floats, setup.pooling(), ids(model));
            g.output(VECTORS, finished ? finish(g, vectors, setup, dimensions) : vectors);
        });
    }

    /** Dense layers and scaling alone, for pooled vectors of that width. */
    static Graph head(int width, EncoderSetup setup, @Nullable Integer dimensions) {
        return GraphBuilder.build(
                "head",
                g -> g.output(
                        VECTORS,
                        finish(g, g.input("pooled", DType.F32, Dim.named("texts"), Dim.of(width)), setup, dimensions)));
    }

    /** The type of ids, whose dims those of the weights are. */
    private static Shape ids(Graph model) {
        return model.inputs().stream()
                .map(Value::shape)
                .filter(shape -> shape.isRanked() && shape.rank() == 2)
                .findFirst()
                .orElseThrow(() -> new UnsupportedException(
                        "an encoder takes input_ids as [batch, tokens]; this model takes " + model.inputs()));
    }

    private static Value pooled(GraphBuilder g, Value tokens, List<Pooling> poolings, Shape ids) {
        List<Value> vectors = new ArrayList<>();
        for (int i = 0; i < poolings.size(); i++) {
            Value weights = g.input(WEIGHTS + i, new TensorType(DType.F32, ids));
            Value each = g.unsqueeze(weights, 2);
            Value counts = g.notEqual(each, g.scalar(DType.F32, 0));
            // padding is chosen away, since 0 times what is not finite is not 0
            vectors.add(
                    poolings.get(i) == Pooling.MAX
                            ? g.max(g.where(counts, tokens, g.scalar(DType.F32, Double.NEGATIVE_INFINITY)), 1)
                            : g.sum(g.where(counts, g.mul(tokens, each), g.scalar(DType.F32, 0)), 1));
        }
        return vectors.size() == 1 ? vectors.getFirst() : g.concat(vectors, 1);
    }

    private static Value finish(GraphBuilder g, Value pooled, EncoderSetup setup, @Nullable Integer dimensions) {
        Value vectors = pooled;
        boolean scaled = false;
        for (SentenceFiles.Step step : setup.steps()) {
            scaled = step instanceof SentenceFiles.Normalise;
            vectors = switch (step) {
                case SentenceFiles.Normalise() -> normalised(g, vectors);
                case SentenceFiles.Layer(Dense dense) -> dense.apply(g, vectors);
            };
        }
        if (dimensions != null) {
            if (vectors.shape().dim(1) instanceof Dim.Fixed(long width) && width < dimensions) {
                throw new InputException("the model's vectors have " + width + " dimensions, so they cannot be cut to "
                        + dimensions + "; ask for " + width + " or fewer");
            }
            vectors = g.slice(vectors, 1, 0, dimensions);
            scaled = false;
        }
        return setup.normalise() && !scaled ? normalised(g, vectors) : vectors;
    }

    /** Scaled to length 1; a vector of length 0 stays. */
    private static Value normalised(GraphBuilder g, Value vectors) {
        Value length = g.l2Norm(vectors, true, 1);
        return g.div(vectors, g.where(g.equal(length, g.scalar(DType.F32, 0)), g.scalar(DType.F32, 1), length));
    }
}
