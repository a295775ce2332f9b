package dev.tenon.core.ir;

import org.jspecify.annotations.Nullable;

/**
 * One tensor of a graph, assigned once. Identity counts: two values are the same only when they are the same object.
 *
 * <p>Immutable and thread-safe.
 */
public final class Value {
    /** Where a value comes from. */
    public sealed interface Origin {
        /** Given by each run. */
        record Input() implements Origin {}

        /** Given once, when the graph is compiled. */
        record Parameter() implements Origin {}

        /** Part of the graph. */
        record Constant(ConstantData data) implements Origin {}

        /** A node's output. */
        record Result(Node node, int index) implements Origin {}
    }

    /** What the newest value has; two threads may give the same to two. */
    private static int newest;

    private final String name;
    private final TensorType type;
    private final Origin origin;
    private final int hash = next();

    Value(String name, TensorType type, Origin origin) {
        this.name = name;
        this.type = type;
        this.origin = origin;
    }

    private static int next() {
        return newest += 0x9E3779B9; // odd: no two of 2^32 in a row are alike, and neighbours lie far apart
    }

    /** Unique within its graph. */
    public String name() {
        return name;
    }

    public TensorType type() {
        return type;
    }

    public DType dtype() {
        return type.dtype();
    }

    public Shape shape() {
        return type.shape();
    }

    public Origin origin() {
        return origin;
    }

    /** The data of a constant; null for anything else. */
    public @Nullable ConstantData constant() {
        return origin instanceof Origin.Constant(ConstantData data) ? data : null;
    }

    /** Counted: identity gives a new object its number at some cost, and names come from models. */
    @Override
    public int hashCode() {
        return hash;
    }

    /** {@code %name: f32[2,3]}. */
    @Override
    public String toString() {
        return "%" + name + ": " + type;
    }
}
