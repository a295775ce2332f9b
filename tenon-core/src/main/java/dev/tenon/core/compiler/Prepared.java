package dev.tenon.core.compiler;

import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What every plan of a model starts from, made once. Immutable and thread-safe. */
public final class Prepared {
    private final Graph graph;
    private final Graph reduced;
    private final Map<String, Long> limits;
    /** Made on first use; a race makes equal ones. */
    private @Nullable SizeRecipe recipe;

    Prepared(Graph graph, Graph reduced, Map<String, Long> limits) {
        this.graph = graph;
        this.reduced = reduced;
        this.limits = Map.copyOf(limits);
    }

    /** The graph that serves every binding of the named dims. */
    public Graph graph() {
        return graph;
    }

    /** The same with what passes could do before the dims have numbers; serves those within the limits. */
    public Graph reduced() {
        return reduced;
    }

    /** The greatest numbers of some names with which {@link #reduced} serves; of any name the least is 1. */
    public Map<String, Long> limits() {
        return limits;
    }

    /** The graph that serves those types of the inputs, by name. */
    public Graph serving(Map<String, TensorType> types) {
        for (Value input : graph.inputs()) {
            TensorType type = types.get(input.name());
            if (type != null && !isWithinLimits(input, type)) {
                return graph;
            }
        }
        return reduced;
    }

    private boolean isWithinLimits(Value input, TensorType type) {
        if (!input.shape().isRanked()) {
            return true;
        }
        for (int axis = 0; axis < input.shape().rank(); axis++) {
            if (input.shape().dim(axis) instanceof Dim.Named(String name)) {
                long size = type.shape().size(axis);
                Long limit = limits.get(name);
                if (size == 0 || (limit != null && size > limit)) {
                    return false;
                }
            }
        }
        return true;
    }

    /** How to specialise {@link #reduced}. */
    SizeRecipe recipe() {
        SizeRecipe known = recipe;
        if (known == null) {
            known = SizeRecipe.of(reduced);
            recipe = known;
        }
        return known;
    }

    /** The same inputs and those outputs alone, as {@link Graph#selecting}. */
    public Prepared selecting(List<String> outputs) {
        return new Prepared(graph.selecting(outputs), reduced.selecting(outputs), limits);
    }
}
