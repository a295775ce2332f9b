package dev.tenon.formats.onnx;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.Value;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The names that nodes can see, and the graph that their values are in. An inner scope of the same graph sees the names
 * around it.
 */
final class Scope {
    private final GraphBuilder builder;
    private final @Nullable Scope outer;
    private final Map<String, Value> values = new HashMap<>();

    Scope(GraphBuilder builder, @Nullable Scope outer) {
        this.builder = builder;
        this.outer = outer;
    }

    boolean isOutermost() {
        return outer == null;
    }

    GraphBuilder builder() {
        return builder;
    }

    @Nullable
    Value find(String name) {
        Value value = values.get(name);
        return value != null || outer == null ? value : outer.find(name);
    }

    /** False when this scope has the name already. */
    boolean define(String name, Value value) {
        return values.putIfAbsent(name, value) == null;
    }
}
