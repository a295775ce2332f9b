package dev.tenon.core.compiler;

import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.PlainGraphBuilder;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The types that operations gave while one graph is specialised. The layers of a model repeat, so that a rule is asked
 * once where several equal operations read equal types. Not thread-safe.
 */
final class KnownTypes {
    private final Map<Key, List<TensorType>> results = new HashMap<>();
    /** By the number of nodes that are alike: what the last of them read and gave. */
    private final @Nullable Alike[] alike;

    /** @param kinds the numbers of nodes that are alike are less than this */
    KnownTypes(int kinds) {
        this.alike = new @Nullable Alike[kinds];
    }

    private record Alike(List<TensorType> reads, List<TensorType> gives) {
        boolean fits(List<Value> operands) {
            for (int i = 0; i < operands.size(); i++) {
                if (!reads.get(i).equals(operands.get(i).type())) {
                    return false;
                }
            }
            return reads.size() == operands.size();
        }
    }

    /** An operation and the types that it reads. */
    private static final class Key {
        private final Op op;
        private final TensorType[] types;
        private final int hash;

        Key(Op op, List<Value> operands) {
            this.op = op;
            this.types = new TensorType[operands.size()];
            int all = op.getClass().hashCode(); // attributes are compared where the rest is equal
            for (int i = 0; i < types.length; i++) {
                types[i] = operands.get(i).type();
                all = 31 * all + types[i].shape().hashCode();
            }
            this.hash = all;
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Key key && Arrays.equals(types, key.types) && op.equals(key.op);
        }
    }

    /** The same of a node whose operation is that of all others of its number. */
    List<TensorType> infer(Op op, List<Value> operands, int kind) {
        if (kind < 0) {
            return infer(op, operands);
        }
        Alike known = alike[kind];
        if (known == null || !known.fits(operands)) {
            List<TensorType> reads = PlainGraphBuilder.types(operands);
            known = new Alike(reads, op.infer(reads));
            alike[kind] = known;
        }
        return known.gives;
    }

    /** The types of an operation's results. @throws dev.tenon.core.error.TenonException as {@link Op#infer} does */
    List<TensorType> infer(Op op, List<Value> operands) {
        Key key = new Key(op, operands);
        List<TensorType> known = results.get(key);
        if (known == null) {
            known = op.infer(PlainGraphBuilder.types(operands));
            results.put(key, known);
        }
        return known;
    }
}
