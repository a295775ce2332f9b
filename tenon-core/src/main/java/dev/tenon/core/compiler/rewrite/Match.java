package dev.tenon.core.compiler.rewrite;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import org.jspecify.annotations.Nullable;

/** Questions that rewrites ask about values. */
public final class Match {
    private Match() {}

    /** The node that makes a value; null for inputs and constants. */
    public static @Nullable Node producer(Value value) {
        return value.origin() instanceof Value.Origin.Result(Node node, int _) ? node : null;
    }

    /** The operation that makes a value, if it is of that kind. */
    public static <T extends Op> @Nullable T op(Value value, Class<T> kind) {
        Node node = producer(value);
        return node != null && kind.isInstance(node.op()) ? kind.cast(node.op()) : null;
    }

    /** Whether every element of a value is known to be that number. */
    public static boolean isAll(Value value, double number) {
        Double splat = splat(value);
        return splat != null && splat == number;
    }

    /** The number that every element of a value is known to be; null where there is none. */
    public static @Nullable Double splat(Value value) {
        return switch (value.constant()) {
            case null -> null;
            case ConstantData.Splat splat -> Elements.toDouble(splat.type().dtype(), splat.element());
            case ConstantData.Dense dense
            when dense.type().shape().elements() == 1 ->
                Elements.getDouble(dense.type().dtype(), dense.segment(), 0);
            case ConstantData.Dense _ -> null;
        };
    }
}
