package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.DeadCode;
import dev.tenon.core.compiler.rewrite.Match;
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
import dev.tenon.core.ir.op.convolution.ChannelsLastNorm;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.normalisation.InstanceNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.LocalResponseNorm;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.pooling.MaxPoolIndices;
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
 * shuffles of channels, pools, norms, resizes, pads, slices, concatenations, softmaxes and reductions over spatial
 * dims. Layouts change at the edges only; a transposition that the graph has between the two layouts costs nothing.
 * Convolutions of single cells become products of matrices, and those whose windows tile an image, too ({@link
 * Patches}). Decided once for a graph: it stays as it is where the edges move as many bytes as the convolutions save,
 * which would otherwise bring each x into that layout by themselves.
 */
public final class ChannelsLast implements Pass {
    private static final int LEAST_RANK = 3;

    @Override
    public String name() {
        return "channels-last";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        if (context.claimsNothing() || !graph.has(Conv.class)) {
            return graph;
        }
        Walk walk = new Walk(context);
        Graph turned = new DeadCode().apply(Rewriter.rewrite(graph, walk), context);
        // what stood apart from a product by a change of layout is next to it now
        return moved(turned) - moved(graph) < walk.saved ? new FuseEpilogues().apply(turned, context) : graph;
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
            if (!shape.isConcrete()) {
                return null;
            }
            for (Value input : node.inputs()) {
                if (!input.shape().isConcrete()) {
                    return null;
                }
            }
            return switch (node.op()) {
                case Conv op -> convolution(op, node, into);
                case Elementwise _, Region _ -> elementwise(node, into);
                case Concat op -> concat(op, node, into);
                case Reduce op -> reduction(op, node, into);
                case Transpose op -> transposition(op, node, into);
                case InstanceNorm op -> norm(node, shape.size(1), op.epsilon(), true, into);
                case LocalResponseNorm _ -> localNorm(node, into);
                case Reshape _ -> reshape(node, into);
                case MaxPoolIndices op when !op.columnMajor() -> indexedPool(op, node, into);
                case Pool _, Resize _, Pad _, Slice _, Softmax _, LogSoftmax _ -> moving(node, into);
                default -> null;
            };
        }

        private @Nullable List<Value> convolution(Conv op, Node node, Rewriter into) {
            Value weights = node.input(1);
            if (weights.constant() == null) {
                return null;
            }
            boolean last = twins.containsKey(node.input(0));
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
            boolean patches = !product && Patches.suits(op, node.input(0), w);
            if (patches) {
                Value x = last ? operands.getFirst() : into.map(node.input(0));
                operands.set(0, Patches.of(x, last, w, into));
                operands.set(
                        1,
                        into.reshape(last ? operands.get(1) : into.map(weights), w.size(0), w.elements(1, w.rank())));
            }
            if (product) {
                operands.set(1, into.reshape(into.map(weights), w.size(0), w.size(1)));
            }
            if (product || patches) {
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
                    && isEvery(1, op.strides())
                    && isEvery(0, op.padsBefore())
                    && isEvery(0, op.padsAfter());
        }

        private static boolean isEvery(long expected, List<Long> values) {
            for (long value : values) {
                if (value != expected) {
                    return false;
                }
            }
            return true;
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
                back.add(first(results.get(i), into));
            }
            return back;
        }

        /** A value with its channels second. Where they are all there is of an image, its elements lie that way. */
        private static Value first(Value last, Rewriter into) {
            Shape shape = last.shape();
            int rank = shape.rank();
            List<Integer> order = ChannelsLastConv.first(rank);
            if (shape.elements(1, rank - 1) != 1) {
                return into.add(new Transpose(order), last);
            }
            long[] sizes = new long[rank];
            for (int i = 0; i < rank; i++) {
                sizes[i] = shape.size(order.get(i));
            }
            return into.reshape(last, sizes);
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

        /** A norm of groups of channels, in place of a node that has the input's shape. */
        private @Nullable List<Value> norm(Node node, long groups, double epsilon, boolean affine, Rewriter into) {
            Value twin = twins.get(node.input(0));
            if (twin == null || twin.shape().rank() < LEAST_RANK) {
                return null;
            }
            List<Value> operands = new ArrayList<>(into.map(node.inputs()));
            operands.set(0, twin);
            Value y = into.addAll(new ChannelsLastNorm(groups, epsilon, affine), operands)
                    .getFirst();
            return context.claimed(y) ? twins(node, List.of(y), into) : null;
        }

        private @Nullable List<Value> indexedPool(MaxPoolIndices op, Node node, Rewriter into) {
            Value twin = twins.get(node.input(0));
            return twin == null ? null : twins(node, IndexedPools.of(op, twin, into), into);
        }

        private @Nullable List<Value> reshape(Node node, Rewriter into) {
            ChannelShuffle shuffle = ChannelShuffle.of(node);
            Value twin = shuffle == null ? null : twins.get(shuffle.x());
            return shuffle == null || twin == null
                    ? groupNorm(node, into)
                    : twins(node, List.of(shuffle.last(twin, into)), into);
        }

        /** The way back from rows of groups, which a norm without factors of its own has made. */
        private @Nullable List<Value> groupNorm(Node node, Rewriter into) {
            Node norm = Match.producer(node.input(0));
            if (norm == null
                    || !(norm.op() instanceof LayerNorm op)
                    || op.axis() != 2
                    || norm.inputs().size() != 1) {
                return null;
            }
            Node there = Match.producer(norm.input(0));
            if (there == null
                    || !(there.op() instanceof Reshape)
                    || !there.input(0).type().equals(node.output().type())) {
                return null;
            }
            Shape image = node.output().shape();
            Shape rows = there.output().shape();
            Value twin = twins.get(there.input(0));
            boolean groups = rows.rank() == 3 && rows.dim(0).equals(image.dim(0)) && image.size(1) % rows.size(1) == 0;
            if (twin == null || !groups) {
                return null;
            }
            Value y = into.addAll(new ChannelsLastNorm(rows.size(1), op.epsilon(), false), List.of(twin))
                    .getFirst();
            return context.claimed(y) ? twins(node, List.of(y), into) : null;
        }

        /** Positions as rows: the norm goes along their channels. */
        private @Nullable List<Value> localNorm(Node node, Rewriter into) {
            Value twin = twins.get(node.input(0));
            if (twin == null) {
                return null;
            }
            Shape shape = twin.shape();
            int last = shape.rank() - 1;
            Value rows = into.reshape(twin, shape.elements(0, last), shape.size(last));
            Value y = into.addAll(node.op(), List.of(rows)).getFirst();
            return twins(node, List.of(into.reshape(y, shape.sizes())), into);
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
