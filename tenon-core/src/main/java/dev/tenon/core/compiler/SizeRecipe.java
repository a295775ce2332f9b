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
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.ExpandTo;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
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
 *   <li>Reshapes and expansions whose results have known dims take their sizes from these, so that a plan need not
 *       compute them.
 *   <li>Nodes that nothing but such sizes needs are passed over.
 *   <li>Nodes are alike where equal operations read equal known types: a plan asks one of them for the types of its
 *       results.
 * </ul>
 *
 * <p>Only for sizes that the graph's types hold for: see {@link Prepared#serving}. Immutable.
 */
final class SizeRecipe {
    /** Of a node that has none like it. */
    static final int ALONE = -1;

    private final boolean[] needed;
    private final @Nullable Shape[] reshaped;
    private final int[] alike;
    private final int kinds;

    /**
     * Nodes that are alike.
     *
     * @param op of which those with the same dims differ in nothing else
     * @param dims that the result has; null where the operation says them
     */
    private record Kind(Object op, @Nullable Shape dims, List<TensorType> reads) {}

    private SizeRecipe(boolean[] needed, @Nullable Shape[] reshaped, int[] alike, int kinds) {
        this.needed = needed;
        this.reshaped = reshaped;
        this.alike = alike;
        this.kinds = kinds;
    }

    static SizeRecipe of(Graph graph) {
        List<Node> nodes = graph.nodes();
        @Nullable Shape[] reshaped = new @Nullable Shape[nodes.size()];
        Set<Dim> given = given(graph);
        for (int i = 0; i < reshaped.length; i++) {
            Op op = nodes.get(i).op();
            Shape shape = op instanceof ReshapeTo || op instanceof UnsqueezeAxes || op instanceof ExpandTo
                    ? nodes.get(i).output().shape()
                    : Shape.unranked();
            reshaped[i] = shape.isKnown() && given.containsAll(named(shape)) ? shape : null;
        }
        boolean[] needed = needed(graph, reshaped);
        int[] alike = new int[nodes.size()];
        Map<Kind, Integer> kinds = new HashMap<>();
        for (int i = 0; i < alike.length; i++) {
            alike[i] = needed[i] ? kind(nodes.get(i), reshaped[i], kinds) : ALONE;
        }
        return new SizeRecipe(needed, reshaped, alike, kinds.size());
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

    private static int kind(Node node, @Nullable Shape reshaped, Map<Kind, Integer> kinds) {
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
                kinds.putIfAbsent(new Kind(reshaped == null ? op : op instanceof ExpandTo, reshaped, types), next),
                next);
    }

    /** Whether a plan needs a node of the graph. */
    boolean isNeeded(int step) {
        return needed[step];
    }

    /** The operation that a node with known dims of its result becomes; null where it stays as it is. */
    @Nullable
    Op resized(Node node, int step, Map<String, Long> numbers) {
        Shape dims = reshaped[step];
        if (dims == null) {
            return null;
        }
        long[] sizes = sizes(dims, numbers);
        return node.op() instanceof ExpandTo ? Expand.to(sizes) : Reshape.to(sizes);
    }

    /** The known dims of the result of a node that takes its sizes from them; null for any other node. */
    @Nullable
    Shape reshaped(int step) {
        return reshaped[step];
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
