package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.DeadCode;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Convolutions that the backend runs with their channels innermost, and what lies between them: elementwise operations,
 * shuffles of channels, pools, resizes, pads, slices, concatenations, softmaxes and reductions over spatial dims.
 * Layouts change at the edges only; a transposition that the graph has between the two layouts costs nothing.
 * Convolutions of single cells become products of matrices. Decided once for a graph: it stays as it is where the edges
 * move as many bytes as the convolutions save, which would otherwise bring each x into that layout by themselves.
 */
public final class ChannelsLast implements Pass {
    private static final int LEAST_RANK = 3;

    @Override
    public String name() {
        return "channels-last";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        if (context.claimsNothing() || graph.nodes().stream().noneMatch(node -> node.op() instanceof Conv)) {
            return graph;
        }
        Walk walk = new Walk(context);
        Graph turned = new DeadCode().apply(Rewriter.rewrite(graph, walk), context);
        return moved(turned) - moved(graph) < walk.saved ? turned : graph;
    }

    /** Bytes that transpositions read and write. */
    private static double moved(Graph graph) {
        double bytes = 0;
        for (Node node : graph.nodes()) {
            if (node.op() instanceof Transpose && node.input(0).constant() == null) {
                bytes += 2.0 * node.output().type().bytes();
            }
        }
        return bytes;
    }

    /** One walk over a graph of concrete shapes. */
    private static final class Walk implements Rewriter.Rewrite {
        private final PassContext context;
        /** Values of the source, and the new ones that have their elements with the channels innermost. */
        private final Map<Value, Value> twins = new HashMap<>();

        private double saved;

        Walk(PassContext context) {
            this.context = context;
        }

        @Override
        public @Nullable List<Value> apply(Node node, Rewriter into) {
            Shape shape = node.outputs().getFirst().shape();
            if (!shape.isConcrete()
                    || !node.inputs().stream().allMatch(input -> input.shape().isConcrete())) {
                return null;
            }
            return switch (node.op()) {
                case Conv op -> convolution(op, node, into);
                case Elementwise _, Region _ -> elementwise(node, into);
                case Concat op -> concat(op, node, into);
                case Reduce op -> reduction(op, node, into);
                case Transpose op -> transposition(op, node, into);
                case Reshape _ -> shuffle(node, into);
                case Pool _, Resize _, Pad _, Slice _, Softmax _, LogSoftmax _ -> moving(node, into);
                default -> null;
            };
        }

        private @Nullable List<Value> convolution(Conv op, Node node, Rewriter into) {
            Value weights = node.input(1);
            if (weights.constant() == null) {
                return null;
            }
            List<Value> operands = new ArrayList<>();
            operands.add(turned(node.input(0), into));
            boolean product = isProduct(op, weights.shape());
            Shape w = weights.shape();
            operands.add(
                    product
                            ? into.reshape(into.map(weights), ones(w))
                            : into.constant(context.constants().channelsLast(weights.constant())));
            if (op.epilogue().bias()) {
                operands.add(into.map(node.input(2)));
            }
            if (op.epilogue().residual()) {
                operands.add(turned(node.inputs().getLast(), into));
            }
            Value y = into.addAll(new ChannelsLastConv(op), operands).getFirst();
            if (!context.claimed(y)) {
                return null;
            }
            saved += 2.0 * node.input(0).type().bytes();
            if (product) {
                operands.set(1, into.reshape(into.map(weights), w.size(0), w.size(1)));
                y = into.addAll(new MatMul(false, true, op.epilogue()), operands)
                        .getFirst();
            }
            return twins(node, List.of(y), into);
        }

        /** [O,1,...,C] for [O,C,1,...]. */
        private static long[] ones(Shape weights) {
            long[] sizes = new long[weights.rank()];
            Arrays.fill(sizes, 1);
            sizes[0] = weights.size(0);
            sizes[sizes.length - 1] = weights.size(1);
            return sizes;
        }

        private static boolean isProduct(Conv op, Shape weights) {
            return op.groups() == 1
                    && !op.epilogue().residualFirst()
                    && weights.elements(2, weights.rank()) == 1
                    && op.strides().stream().allMatch(stride -> stride == 1)
                    && op.padsBefore().stream().allMatch(pad -> pad == 0)
                    && op.padsAfter().stream().allMatch(pad -> pad == 0);
        }

        /** A value with its channels innermost. */
        private Value turned(Value value, Rewriter into) {
            Value twin = twins.get(value);
            if (twin == null) {
                twin = into.add(
                        new Transpose(ChannelsLastConv.last(value.shape().rank())), into.map(value));
                twins.put(value, twin);
            }
            return twin;
        }

        /** Remembers the twins of a node's results; the results themselves are there for those that need them. */
        private List<Value> twins(Node node, List<Value> results, Rewriter into) {
            List<Value> back = new ArrayList<>();
            for (int i = 0; i < results.size(); i++) {
                twins.put(node.outputs().get(i), results.get(i));
                int rank = results.get(i).shape().rank();
                back.add(into.add(new Transpose(ChannelsLastConv.first(rank)), results.get(i)));
            }
            return back;
        }

        private @Nullable List<Value> elementwise(Node node, Rewriter into) {
            Shape shape = node.outputs().getFirst().shape();
            if (shape.rank() < LEAST_RANK || node.inputs().stream().noneMatch(twins::containsKey)) {
                return null;
            }
            boolean whole = false;
            for (Value input : node.inputs()) {
                boolean turns = twins.containsKey(input)
                        ? input.shape().rank() == shape.rank()
                        : isSingle(input.shape()) || isPerChannel(input.shape(), shape.rank());
                if (!turns) {
                    return null;
                }
                whole |= twins.containsKey(input) && input.shape().equals(shape);
            }
            if (!whole) {
                return null;
            }
            List<Value> operands = new ArrayList<>();
            for (Value input : node.inputs()) {
                Value twin = twins.get(input);
                boolean channels = twin == null && !isSingle(input.shape());
                Value mapped = twin == null ? into.map(input) : twin;
                operands.add(channels ? into.reshape(mapped, input.shape().elements()) : mapped);
            }
            return twins(node, into.addAll(node.op(), operands), into);
        }

        private static boolean isSingle(Shape shape) {
            return shape.elements() == 1;
        }

        /** Whether a shape has one number per channel, whose dim is the second of so many. */
        private static boolean isPerChannel(Shape shape, int rank) {
            int axis = 1 - (rank - shape.rank());
            return axis >= 0 && shape.elements() == shape.size(axis);
        }

        private @Nullable List<Value> concat(Concat op, Node node, Rewriter into) {
            int rank = node.output().shape().rank();
            double there = 0;
            for (Value input : node.inputs()) {
                there += (twins.containsKey(input) ? 1 : -1)
                        * (double) input.type().bytes();
            }
            if (rank < LEAST_RANK || there <= 0) {
                return null;
            }
            List<Value> operands =
                    node.inputs().stream().map(input -> turned(input, into)).toList();
            return twins(node, into.addAll(new Concat(moved(op.axis(), rank)), operands), into);
        }

        /** A transposition from one layout to the other: both values are there. */
        private @Nullable List<Value> transposition(Transpose op, Node node, Rewriter into) {
            int rank = node.output().shape().rank();
            Value twin = twins.get(node.input(0));
            if (rank < LEAST_RANK) {
                return null;
            }
            if (op.permutation().equals(ChannelsLastConv.first(rank))) {
                twins.put(node.output(), into.map(node.input(0)));
            }
            return twin != null && op.permutation().equals(ChannelsLastConv.last(rank)) ? List.of(twin) : null;
        }

        /** Channels in rows and columns, read by columns: three nodes, of which this is the last. */
        private @Nullable List<Value> shuffle(Node node, Rewriter into) {
            Shape shape = node.output().shape();
            int rank = shape.rank();
            Node turn = producer(node.input(0));
            if (rank < LEAST_RANK
                    || turn == null
                    || !(turn.op() instanceof Transpose(List<Integer> permutation))
                    || !permutation.equals(columnsFirst(rank + 1))) {
                return null;
            }
            Node split = producer(turn.input(0));
            if (split == null || !(split.op() instanceof Reshape)) {
                return null;
            }
            Value twin = twins.get(split.input(0));
            if (twin == null
                    || !split.input(0).shape().equals(shape)
                    || !split.output().shape().range(3, rank + 1).equals(shape.range(2, rank))) {
                return null;
            }
            long rows = split.output().shape().size(1);
            long columns = split.output().shape().size(2);
            Shape places = twin.shape().range(0, rank - 1);
            List<Integer> swapped = new ArrayList<>();
            for (int axis = 0; axis < rank - 1; axis++) {
                swapped.add(axis);
            }
            swapped.add(rank);
            swapped.add(rank - 1);
            Value apart =
                    into.reshape(twin, places.concat(Shape.of(rows, columns)).sizes());
            Value turned = into.add(new Transpose(swapped), apart);
            return twins(node, List.of(into.reshape(turned, twin.shape().sizes())), into);
        }

        private static @Nullable Node producer(Value value) {
            return value.origin() instanceof Value.Origin.Result(Node node, int _) ? node : null;
        }

        /** The permutation of so many axes that changes the second and the third. */
        private static List<Integer> columnsFirst(int rank) {
            List<Integer> axes = new ArrayList<>(List.of(0, 2, 1));
            for (int axis = 3; axis < rank; axis++) {
                axes.add(axis);
            }
            return axes;
        }

        /** An operation whose attributes go by axes. */
        private @Nullable List<Value> moving(Node node, Rewriter into) {
            Value twin = twins.get(node.input(0));
            Op moved = twin == null
                    ? null
                    : AxisOrder.channelsLast(node.output().shape().rank()).of(node.op());
            if (twin == null || moved == null) {
                return null;
            }
            List<Value> operands = new ArrayList<>(into.map(node.inputs()));
            operands.set(0, twin);
            if (!(node.op() instanceof Pool)) {
                return twins(node, into.addAll(moved, operands), into);
            }
            // the channels are one more spatial dim, of which every window has one cell
            Shape shape = twin.shape();
            Shape spread = Shape.of(shape.dim(0), Dim.of(1)).concat(shape.range(1, shape.rank()));
            Value y = into.addAll(moved, List.of(into.reshape(twin, spread.sizes())))
                    .getFirst();
            Shape joined = Shape.of(y.shape().dim(0))
                    .concat(y.shape().range(2, y.shape().rank()));
            return twins(node, List.of(into.reshape(y, joined.sizes())), into);
        }

        private @Nullable List<Value> reduction(Reduce op, Node node, Rewriter into) {
            Value twin = twins.get(node.input(0));
            int rank = node.input(0).shape().rank();
            if (twin == null || op.axes().contains(1)) {
                return null;
            }
            // without kept dims the channels stay the second dim only where all spatial ones go
            if (!op.keepDims() && op.axes().stream().filter(axis -> axis > 1).count() < rank - 2) {
                return null;
            }
            List<Integer> axes =
                    op.axes().stream().map(axis -> moved(axis, rank)).toList();
            List<Value> results = into.addAll(new Reduce(op.fn(), axes, op.keepDims()), List.of(twin));
            return op.keepDims() ? twins(node, results, into) : results;
        }

        /** Where an axis is once the channels are innermost. */
        private static int moved(int axis, int rank) {
            return axis == 0 ? 0 : axis == 1 ? rank - 1 : axis - 1;
        }
    }
}
