package dev.tenon.core.ir;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Numbers from 0 for the values of a graph: inputs, constants, results in the order of nodes, then parameters, which
 * plans do not have. Immutable and thread-safe.
 */
public final class Numbering {
    private final List<Value> values;
    private final Table numbers;
    /** By node, the numbers of its operands. */
    private final int[][] operands;

    // a plan makes one or two; what is done for each value or node is a method, which the JVM compiles sooner
    Numbering(Graph graph) {
        List<Value> all = new ArrayList<>(graph.inputs());
        all.addAll(graph.constants());
        for (Node node : graph.nodes()) {
            all.addAll(node.outputs());
        }
        all.addAll(graph.parameters());
        values = List.copyOf(all);
        numbers = new Table(values.size());
        for (Value value : values) {
            numbers.append(value);
        }
        operands = new int[graph.nodes().size()][];
        for (int step = 0; step < operands.length; step++) {
            operands[step] = numbers(graph.nodes().get(step).inputs());
        }
    }

    private int[] numbers(List<Value> of) {
        int[] all = new int[of.size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = of(of.get(i));
        }
        return all;
    }

    /** The number of an operand of a node, which is given by its place in the graph. */
    public int operand(int step, int input) {
        return operands[step][input];
    }

    /** The values, by number. */
    public List<Value> values() {
        return values;
    }

    /**
     * The number of a value.
     *
     * @throws IllegalArgumentException for one of another graph
     */
    public int of(Value value) {
        int number = find(value);
        if (number < 0) {
            throw new IllegalArgumentException(value + " is not of this graph");
        }
        return number;
    }

    /** The number of a value; -1 for one of another graph. */
    int find(Value value) {
        return numbers.get(value);
    }

    /** A number of 0 or more for each of some values; open addressing, because plans make such tables often. */
    static final class Table {
        private static final int LEAST = 16;

        private @Nullable Value[] keys;
        private int[] numbers;
        private int size;

        /** @param expected how many values to make room for */
        Table(int expected) {
            int capacity = Integer.highestOneBit(Math.max(LEAST, expected)) * 4;
            keys = new @Nullable Value[capacity];
            numbers = new int[capacity];
        }

        /** The number of a value; -1 where it has none. */
        int get(Value value) {
            int at = find(value);
            return keys[at] == null ? -1 : numbers[at];
        }

        /** Gives a value the number of those before it. */
        void append(Value value) {
            put(value, size);
        }

        void put(Value value, int number) {
            int at = find(value);
            if (keys[at] == null) {
                if (2 * ++size > keys.length) {
                    grow();
                    at = find(value);
                }
                keys[at] = value;
            }
            numbers[at] = number;
        }

        @SuppressWarnings("ReferenceEquality") // identity counts
        private int find(Value value) {
            int mask = keys.length - 1;
            int hash = value.hashCode() * 0x9E3779B9;
            int at = (hash ^ hash >>> 16) & mask;
            while (keys[at] != null && keys[at] != value) {
                at = at + 1 & mask;
            }
            return at;
        }

        private void grow() {
            @Nullable Value[] oldKeys = keys;
            int[] oldNumbers = numbers;
            keys = new @Nullable Value[2 * oldKeys.length];
            numbers = new int[keys.length];
            for (int i = 0; i < oldKeys.length; i++) {
                Value key = oldKeys[i];
                if (key != null) {
                    int at = find(key);
                    keys[at] = key;
                    numbers[at] = oldNumbers[i];
                }
            }
        }
    }
}
