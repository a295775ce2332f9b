package dev.tenon.core.compiler;

import dev.tenon.core.ir.Control;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Numbering;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What specialising a reduced graph has in common for all sizes, worked out once:
 *
 * <ul>
 *   <li>Reshapes, expansions and slices whose results have known dims take their sizes from these ({@link Resizing}),
 *       so that a plan need not compute them.
 *   <li>Nodes that nothing but such sizes needs are passed over.
 *   <li>Nodes are alike where equal operations read equal known types: a plan asks one of them for the types of its
 *       results.
 *   <li>Nodes that stay whatever the sizes are, since what they read is never constant, are taken over as they are.
 * </ul>
 *
 * <p>Only for sizes that the graph's types hold for: see {@link Prepared#serving}. Immutable.
 */
final class SizeRecipe {
    /** Of a node that has none like it. */
    static final int ALONE = -1;

    private final boolean[] needed;
    private final @Nullable Shape[] reshaped;
    private final @Nullable Resizing[] resizings;
    private final int[] alike;
    private final int kinds;
    private final boolean[] stays;

    /**
     * Nodes that are alike.
     *
     * @param op or {@link Resizing}, of which those with the same dims differ in nothing else
     * @param dims that the result has; null where the operation says them
     */
    private record Kind(Object op, @Nullable Shape dims, List<TensorType> reads) {}

    private SizeRecipe(
            boolean[] needed,
            @Nullable Shape[] reshaped,
            @Nullable Resizing[] resizings,
            int[] alike,
            int kinds,
            boolean[] stays) {
        this.needed = needed;
        this.reshaped = reshaped;
        this.resizings = resizings;
        this.alike = alike;
        this.kinds = kinds;
        this.stays = stays;
    }

    static SizeRecipe of(Graph graph) {
        List<Node> nodes = graph.nodes();
        @Nullable Shape[] reshaped = new @Nullable Shape[nodes.size()];
        @Nullable Resizing[] resizings = new @Nullable Resizing[nodes.size()];
        Set<Dim> given = given(graph);
        for (int i = 0; i < reshaped.length; i++) {
            Shape shape = nodes.get(i).op() instanceof Deferred
                    ? nodes.get(i).output().shape()
                    : Shape.unranked();
            resizings[i] = shape.isKnown() && given.containsAll(named(shape)) ? Resizing.of(nodes.get(i)) : null;
            reshaped[i] = resizings[i] == null ? null : shape;
        }
        boolean[] needed = needed(graph, reshaped);
        int[] alike = new int[nodes.size()];
        Map<Kind, Integer> kinds = new HashMap<>();
        for (int i = 0; i < alike.length; i++) {
            alike[i] = needed[i] ? kind(nodes.get(i), reshaped[i], resizings[i], kinds) : ALONE;
        }
        return new SizeRecipe(needed, reshaped, resizings, alike, kinds.size(), stays(graph, reshaped, alike));
    }

    /** The nodes that are alike with some, and of whose operands one is made of inputs by nodes that stay. */
    private static boolean[] stays(Graph graph, @Nullable Shape[] reshaped, int[] alike) {
        Numbering numbering = graph.numbering();
        boolean[] varies = new boolean[numbering.values().size()];
        Arrays.fill(varies, 0, graph.inputs().size(), true);
        boolean[] stays = new boolean[reshaped.length];
        for (int step = 0; step < stays.length; step++) {
            Node node = graph.nodes().get(step);
            int reads = reshaped[step] == null ? node.inputs().size() : 1;
            for (int i = 0; i < reads; i++) {
                stays[step] |= alike[step] != ALONE && varies[numbering.operand(step, i)];
            }
            for (Value output : node.outputs()) {
                varies[numbering.of(output)] = stays[step];
            }
        }
        return stays;
    }

    /** The names that the types of the inputs give numbers to. */
    private static Set<Dim> given(Graph graph) {
        Set<Dim> given = new HashSet<>();
        for (Value input : graph.inputs()) {
            if (input.shape().isRanked()) {
                given.addAll(input.shape().dims());
            }
        }
        return given;
    }

    private static List<Dim> named(Shape shape) {
        return shape.dims().stream().filter(dim -> !dim.isFixed()).toList();
    }

    private static boolean[] needed(Graph graph, @Nullable Shape[] reshaped) {
        Numbering numbering = graph.numbering();
        boolean[] read = new boolean[numbering.values().size()];
        graph.outputs().values().forEach(output -> read[numbering.of(output)] = true);
        boolean[] needed = new boolean[reshaped.length];
        for (int step = reshaped.length - 1; step >= 0; step--) {
            Node node = graph.nodes().get(step);
            for (Value output : node.outputs()) {
                needed[step] |= read[numbering.of(output)];
            }
            int reads = reshaped[step] == null ? node.inputs().size() : 1;
            for (int i = 0; needed[step] && i < reads; i++) {
                read[numbering.operand(step, i)] = true;
            }
        }
        return needed;
    }

    private static int kind(
            Node node, @Nullable Shape reshaped, @Nullable Resizing resizing, Map<Kind, Integer> kinds) {
        Op op = node.op();
        if (reshaped == null && (op instanceof Deferred || op instanceof Control)) {
            return ALONE;
        }
        List<Value> reads = reshaped == null ? node.inputs() : node.inputs().subList(0, 1);
        List<TensorType> types = new ArrayList<>();
        for (Value read : reads) {
            if (!read.shape().isKnown()) {
                return ALONE;
            }
            types.add(read.type());
        }
        Integer next = kinds.size();
        return Objects.requireNonNullElse(
                kinds.putIfAbsent(new Kind(resizing == null ? op : resizing, reshaped, types), next), next);
    }

    /** Whether a plan needs a node of the graph. */
    boolean isNeeded(int step) {
        return needed[step];
    }

    /** The operation that a node with known dims of its result becomes; null where it stays as it is. */
    @Nullable
    Op resized(int step, Map<String, Long> numbers) {
        Shape dims = reshaped[step];
        Resizing resizing = resizings[step];
        return dims == null || resizing == null ? null : resizing.to(sizes(dims, numbers));
    }

    /** The known dims of the result of a node that takes its sizes from them; null for any other node. */
    @Nullable
    Shape reshaped(int step) {
        return reshaped[step];
    }

    /** Whether a node with a {@link #kind} is in each plan, on what stands for its operands. */
    boolean stays(int step) {
        return stays[step];
    }

    /** A number that a node shares with those that are alike, less than {@link #kinds}; or {@link #ALONE}. */
    int kind(int step) {
        return alike[step];
    }

    int kinds() {
        return kinds;
    }

    /** The sizes of known dims, with those numbers of their names. */
    private static long[] sizes(Shape dims, Map<String, Long> numbers) {
        long[] sizes = new long[dims.rank()];
        Arrays.setAll(
                sizes,
                axis -> dims.dim(axis) instanceof Dim.Named(String name)
                        ? Objects.requireNonNull(numbers.get(name), name)
                        : dims.size(axis));
        return sizes;
    }

    /** The numbers of the names of dims, by the types of inputs. */
    static Map<String, Long> numbers(Graph graph, Map<String, TensorType> types) {
        Map<String, Long> numbers = new HashMap<>();
        for (Value input : graph.inputs()) {
            TensorType type = types.get(input.name());
            for (int axis = 0;
                    type != null
                            && input.shape().isRanked()
                            && axis < type.shape().rank();
                    axis++) {
                if (input.shape().dim(axis) instanceof Dim.Named(String name)) {
                    numbers.put(name, type.shape().size(axis));
                }
            }
        }
        return numbers;
    }
}
