package dev.tenon.core.compiler;

import dev.tenon.core.compiler.rewrite.HalfStore;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Control;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.ir.op.contraction.Contraction;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Copy;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.image.CoordinateMode;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.ExpandTo;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.SliceBy;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.ResidualNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * {@code contraction(x, w) → cast(contraction(cast(x), half w))} for f32 weights kept in 16 bits, and on from there
 * through all that bears it: products, norms, softmax, attention, activations, sums and movement, whose kernels count
 * in f32 inside. What has a wider range of numbers than that (masks, exponentials, sums of squares, small epsilons)
 * stays f32, and so do the graph's inputs and outputs. Casts of computed values saturate.
 */
final class HalfPrecision implements Pass {
    /** A table with fewer elements is no reason to leave f32. */
    private static final long TABLE = 1 << 12;

    @Override
    public String name() {
        return "half-precision";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        HalfStore store = context.half();
        if (store == null) {
            return graph;
        }
        Walk walk = new Walk(store, context);
        return Rewriter.rewrite(graph, walk::rewrite);
    }

    /**
     * Whether the pass decides about a graph what it would decide about each graph that sizes make of it: of operations
     * that wait for sizes, none but those that move elements work on floats, and the backend runs whole what it ran
     * whole in f32.
     */
    boolean isDecided(Graph graph, PassContext context) {
        return isSettled(graph, context) && isSettled(apply(graph, context), context);
    }

    private static boolean isSettled(Graph graph, PassContext context) {
        for (Node node : graph.nodes()) {
            boolean settled = switch (node.op()) {
                case Primitive _ -> true;
                case Composite composite ->
                    composite instanceof Claimable && context.claims().test(node);
                case Deferred deferred -> moves(deferred) || !touchesFloats(node);
                case Control _ -> false;
            };
            if (!settled) {
                return false;
            }
        }
        return true;
    }

    private static boolean moves(Op op) {
        return op instanceof ReshapeTo
                || op instanceof ExpandTo
                || op instanceof UnsqueezeAxes
                || op instanceof SliceBy
                || op instanceof ShapeOf;
    }

    private static boolean touchesFloats(Node node) {
        return Stream.concat(node.inputs().stream(), node.outputs().stream())
                .anyMatch(value -> value.dtype() == DType.F32);
    }

    private static final class Walk {
        private final HalfStore store;
        private final PassContext context;
        /** The short twin of an f32 value of the new graph, and the other way round. */
        private final Map<Value, Value> shorts = new HashMap<>();

        private final Map<Value, Value> wides = new HashMap<>();

        /** Functions that do not leave the range of their operands by much; any other function stays f32. */
        private final Set<BinaryFn> binary =
                Set.of(BinaryFn.ADD, BinaryFn.SUB, BinaryFn.MUL, BinaryFn.MAX, BinaryFn.MIN);

        private final Set<UnaryFn> unary = Set.of(
                UnaryFn.NEG,
                UnaryFn.ABS,
                UnaryFn.TANH,
                UnaryFn.ERF,
                UnaryFn.RELU,
                UnaryFn.LEAKY_RELU,
                UnaryFn.GELU,
                UnaryFn.GELU_TANH,
                UnaryFn.SILU,
                UnaryFn.SIGMOID,
                UnaryFn.HARD_SIGMOID,
                UnaryFn.HARD_SWISH,
                UnaryFn.CLIP);

        Walk(HalfStore store, PassContext context) {
            this.store = store;
            this.context = context;
        }

        @Nullable
        List<Value> rewrite(Node node, Rewriter into) {
            boolean floats = node.outputs().stream().allMatch(value -> value.dtype() == DType.F32);
            if (floats && bears(node.op()) && startsOrFollows(node, into)) {
                List<Value> inputs = halves(node, into);
                if (inputs != null && runs(node.op(), inputs)) {
                    return outward(node, results(node, inputs, into), into);
                }
            }
            if (node.op() instanceof ShapeOf) {
                return null; // it reads no elements
            }
            boolean anyShort = node.inputs().stream().anyMatch(input -> isShort(input, into));
            return anyShort
                    ? into.addAll(
                            node.op(),
                            node.inputs().stream()
                                    .map(input -> isShort(input, into) ? wide(into.map(input), into) : into.map(input))
                                    .toList())
                    : null;
        }

        /** What a backend claimed of f32 it may not take of halves; then it stays f32. */
        private boolean runs(Op op, List<Value> halves) {
            return !(op instanceof Claimable) || context.claims(op, halves);
        }

        /** What waits for sizes keeps the dims that are known of its result. */
        private List<Value> results(Node node, List<Value> inputs, Rewriter into) {
            return node.op() instanceof Deferred
                    ? List.of(into.addTyped(
                            node.op(),
                            inputs,
                            new TensorType(store.dtype(), node.output().shape())))
                    : into.addAll(node.op(), inputs);
        }

        /**
         * Whether the operation counts in f32 inside, or cannot leave the range of its operands by much. What is not
         * listed stays f32, which is right for every operation and function.
         */
        private boolean bears(Op op) {
            return switch (op) {
                case Contraction _,
                        Softmax _,
                        LayerNorm _,
                        RmsNorm _,
                        Attention _,
                        PlainAttention _,
                        ResidualNorm _,
                        Rope _ -> true;
                case ReshapeTo _, ExpandTo _, UnsqueezeAxes _, SliceBy _ -> true;
                case Gather _, Reshape _, Transpose _, Slice _, Concat _, Expand _, Copy _ -> true;
                // maxima and means stay in the range of what they are of; kernels add in f32
                case Reduce reduce -> reduce.fn() == ReduceFn.MEAN || reduce.fn() == ReduceFn.MAX;
                case Pool pool -> pool.fn() != PoolFn.LP;
                case Pad _ -> true;
                case Resize resize -> resize.coordinates() != CoordinateMode.TF_CROP_AND_RESIZE;
                case Binary binary -> this.binary.contains(binary.fn());
                case Unary unary -> this.unary.contains(unary.fn());
                default -> false;
            };
        }

        private boolean startsOrFollows(Node node, Rewriter into) {
            ConstantData data = node.op() instanceof Gather ? node.input(0).constant() : null;
            boolean table = data != null
                    && data.type().dtype() == DType.F32
                    && data.type().shape().elements() >= TABLE;
            return table
                    || (node.op() instanceof Contraction && !isOuter(node))
                    || node.inputs().stream().anyMatch(input -> isShort(input, into));
        }

        /**
         * Products that add nothing up: angles of positions and frequencies are such, and need their digits. So may be
         * one along a dim without a number, which waits for it.
         */
        private static boolean isOuter(Node node) {
            if (!(node.op() instanceof MatMul product)) {
                return false;
            }
            Shape a = node.input(0).shape();
            Dim summed = a.isRanked() ? a.dim(a.rank() - (product.transposeA() ? 2 : 1)) : Dim.unknown();
            return !summed.isFixed() || summed.is(1);
        }

        private boolean isShort(Value old, Rewriter into) {
            return old.dtype() == DType.F32
                    && old.constant() == null
                    && into.map(old).dtype() == store.dtype();
        }

        /** The operands in the short type; null where a constant does not fit it. */
        private @Nullable List<Value> halves(Node node, Rewriter into) {
            List<Value> operands = new ArrayList<>();
            for (Value input : node.inputs()) {
                if (input.dtype() != DType.F32) {
                    operands.add(into.map(input));
                    continue;
                }
                if (node.op() instanceof Rope && !operands.isEmpty()) { // angles keep their digits
                    operands.add(isShort(input, into) ? wide(into.map(input), into) : into.map(input));
                    continue;
                }
                ConstantData data = input.constant();
                if (data != null) {
                    ConstantData half = store.of(data).orElse(null);
                    if (half == null) {
                        return null;
                    }
                    operands.add(into.constant(half));
                } else {
                    operands.add(shortened(into.map(input), into));
                }
            }
            return operands;
        }

        private Value shortened(Value value, Rewriter into) {
            if (value.dtype() == store.dtype()) {
                return value;
            }
            return shorts.computeIfAbsent(value, wide -> {
                Unary clip = new Unary(UnaryFn.CLIP, -store.largest(), store.largest());
                return into.add(new Cast(store.dtype(), false), into.add(clip, wide));
            });
        }

        private Value wide(Value value, Rewriter into) {
            return wides.computeIfAbsent(value, small -> into.cast(small, DType.F32));
        }

        /** The results as the rest of the walk sees them: outputs of the graph are f32 again. */
        private List<Value> outward(Node node, List<Value> results, Rewriter into) {
            List<Value> seen = new ArrayList<>();
            for (int i = 0; i < results.size(); i++) {
                Value result = results.get(i);
                if (into.isOutput(node.outputs().get(i))) {
                    Value wide = wide(result, into);
                    shorts.put(wide, result);
                    seen.add(wide);
                } else {
                    seen.add(result);
                }
            }
            return seen;
        }
    }
}
