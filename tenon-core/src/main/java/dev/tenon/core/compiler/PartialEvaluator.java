package dev.tenon.core.compiler;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.build.Ops;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Control;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Numbering;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.control.Loop;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Runs as much of a graph as is known before any run: gives inputs their concrete types, folds operations on constants
 * (within a bound of bytes), and turns deferred operations into what they stand for as soon as the values they wait for
 * are constants. Arithmetic on shapes, and branches on it, vanish here.
 *
 * <p>With no types given it does the same for what depends on constants alone; the result then serves every binding of
 * the named dims.
 */
final class PartialEvaluator implements Ops {
    /**
     * A folded constant may always take this many bytes; a larger one no more than the constants that it was made of.
     */
    static final long FOLD_BYTES = 1 << 18;

    /** More elements than this are not folded: reference arithmetic works on the heap. */
    private static final long FOLD_ELEMENTS = 1 << 21;

    /** Arrays of more elements than this are not kept for the next operation that reads them. */
    private static final int MOST_KEPT = 64;

    private final GraphBuilder builder;
    private final KnownTypes known;
    private final Numbering numbering;
    /** By the number of a value of the source: what stands for it. */
    private final @Nullable Value[] mapped;

    /** What deferred operations read: many reshapes read one vector of sizes. */
    private final IdentityHashMap<ConstantData, NdArray> arrays = new IdentityHashMap<>();

    private String current = "";
    /** The source's node, until a node is made that is like it. */
    private @Nullable Node whole;

    /** Which nodes are like it; until a node is made, too. */
    private int kind = SizeRecipe.ALONE;

    /** Null where the named dims get numbers. */
    private final @Nullable SymbolicSizes sizes;

    private final @Nullable SizeRecipe recipe;

    private PartialEvaluator(Graph source, @Nullable SymbolicSizes sizes, @Nullable SizeRecipe recipe) {
        this.builder = new GraphBuilder(source.name());
        this.sizes = sizes;
        this.recipe = recipe;
        this.known = new KnownTypes(recipe == null ? 0 : recipe.kinds());
        this.numbering = source.numbering();
        this.mapped = new @Nullable Value[numbering.values().size()];
    }

    /**
     * @param types types for inputs, by name; inputs without one keep theirs
     * @param known constants for inputs and parameters, by name; these are no inputs of the result
     */
    static Graph evaluate(Graph source, Map<String, TensorType> types, Map<String, ConstantData> known) {
        return new PartialEvaluator(source, null, null).run(source, types, known);
    }

    /**
     * The same by a recipe.
     *
     * @param source the graph that the recipe is for
     * @param types of all inputs, by name
     */
    static Graph evaluate(Graph source, Map<String, TensorType> types, SizeRecipe recipe) {
        return new PartialEvaluator(source, null, recipe).run(source, types, Map.of());
    }

    /**
     * A graph that says what it can about its sizes: values and results of deferred operations have types of named
     * dims, and equal vectors of sizes are one value.
     *
     * @param sizes fresh; the types hold within its limits
     */
    static Graph withNamedSizes(Graph source, SymbolicSizes sizes) {
        return new PartialEvaluator(source, sizes, null).run(source, Map.of(), Map.of());
    }

    private Graph run(Graph source, Map<String, TensorType> types, Map<String, ConstantData> known) {
        for (Value input : source.inputs()) {
            ConstantData data = known.get(input.name());
            put(
                    input,
                    data != null
                            ? builder.constant(input.name(), data)
                            : builder.input(input.name(), types.getOrDefault(input.name(), input.type())));
        }
        for (Value parameter : source.parameters()) {
            ConstantData data = known.get(parameter.name());
            put(
                    parameter,
                    data != null
                            ? builder.constant(parameter.name(), data)
                            : builder.parameter(
                                    parameter.name(),
                                    parameter.dtype(),
                                    parameter.shape().sizes()));
        }
        if (recipe == null) {
            for (Node node : source.nodes()) {
                whole = node;
                put(node, node.op(), node.inputs().size());
            }
        } else {
            addNeeded(source.nodes(), recipe, SizeRecipe.numbers(source, types));
        }
        source.outputs().forEach((name, value) -> builder.output(name, map(value)));
        return builder.buildUnverified();
    }

    private void addNeeded(List<Node> nodes, SizeRecipe by, Map<String, Long> numbers) {
        @Nullable Op[] resizings = new @Nullable Op[by.kinds()];
        for (int step = 0; step < nodes.size(); step++) {
            addNeeded(nodes.get(step), step, by, numbers, resizings);
        }
    }

    /** @param resizings what the kinds of nodes that take sizes from their results have become */
    private void addNeeded(Node node, int step, SizeRecipe by, Map<String, Long> numbers, @Nullable Op[] resizings) {
        if (by.stays(step)) {
            Op resized = resizings[by.kind(step)];
            if (resized == null) {
                resized = by.resized(step, numbers);
                resizings[by.kind(step)] = resized;
            }
            take(node, step, resized, by.kind(step));
        } else if (by.isNeeded(step)) {
            kind = by.kind(step);
            Op resized = by.resized(step, numbers);
            if (resized == null) {
                whole = node;
                put(node, node.op(), node.inputs().size());
            } else {
                whole = null; // the result is named as if its sizes had been computed
                put(node, resized, 1);
            }
        }
    }

    /**
     * Takes a node over that stays.
     *
     * @param resized the operation that takes its place and reads one operand; null for its own
     */
    private void take(Node node, int step, @Nullable Op resized, int alike) {
        Value[] operands = new Value[resized == null ? node.inputs().size() : 1];
        for (int i = 0; i < operands.length; i++) {
            Value made = mapped[numbering.operand(step, i)];
            operands[i] = made != null ? made : map(node.input(i));
        }
        List<Value> reads = List.of(operands);
        List<Value> results;
        try {
            results = resized == null
                    ? builder.addLike(node, reads, known.infer(node.op(), reads, alike))
                    : builder.addTyped(
                            node.name(),
                            resized,
                            reads,
                            List.of(resized.mnemonic()),
                            known.infer(resized, reads, alike));
        } catch (TenonException e) {
            throw e.at(node.name());
        }
        for (int i = 0; i < results.size(); i++) {
            put(node.outputs().get(i), results.get(i));
        }
    }

    /** Adds an operation on the first operands of a node, whose results take the place of the node's. */
    private void put(Node node, Op op, int count) {
        current = node.name();
        Value[] operands = new Value[count];
        for (int i = 0; i < count; i++) {
            operands[i] = map(node.input(i));
        }
        List<Value> results = addAll(op, List.of(operands));
        for (int i = 0; i < results.size(); i++) {
            put(node.outputs().get(i), results.get(i));
        }
    }

    private Value map(Value old) {
        int number = numbering.of(old);
        Value known = mapped[number];
        if (known == null) {
            if (old.constant() == null) {
                throw new IllegalStateException(old + " is used before it is defined");
            }
            known = builder.adopt(old);
            mapped[number] = known;
        }
        return known;
    }

    private void put(Value old, Value now) {
        mapped[numbering.of(old)] = now;
    }

    @Override
    public Value constant(ConstantData data) {
        return builder.constant(data);
    }

    /** Adds an operation, or what is left of it. */
    @Override
    public List<Value> addAll(Op op, List<Value> operands) {
        Node like = whole;
        int alike = kind;
        whole = null; // the names of results are for the node itself, not for what it is made of
        kind = SizeRecipe.ALONE;
        try {
            List<Value> reduced = switch (op) {
                case Deferred deferred -> resolve(deferred, operands);
                case Control control -> unroll(control, operands);
                case Composite composite -> allConstant(operands) ? decompose(composite, operands) : null;
                case Primitive primitive -> allConstant(operands) ? fold(primitive, operands) : null;
            };
            return reduced != null ? reduced : keep(op, operands, like, alike);
        } catch (TenonException e) {
            throw e.at(current);
        }
    }

    private List<Value> keep(Op op, List<Value> operands, @Nullable Node like, int alike) {
        if (sizes != null) {
            return keep(op, operands, like, sizes);
        }
        List<TensorType> types = known.infer(op, operands, alike);
        return like == null
                ? builder.addTyped(current, op, operands, Collections.nCopies(types.size(), op.mnemonic()), types)
                : builder.addLike(like, operands, types);
    }

    private List<Value> keep(Op op, List<Value> operands, @Nullable Node like, SymbolicSizes symbolic) {
        SizeVectors vectors = symbolic.vectors();
        List<Value> firsts =
                symbolic.operands(op, operands.stream().map(vectors::first).toList());
        List<TensorType> types = symbolic.types(op, firsts);
        Value plainer = types.size() == 1
                ? symbolic.grids().plainer(op, firsts, types.getFirst().shape(), this)
                : null;
        if (plainer != null) {
            return List.of(plainer);
        }
        List<String> names = new ArrayList<>();
        if (like != null) {
            like.outputs().forEach(value -> names.add(value.name()));
        }
        while (names.size() < types.size()) {
            names.add(op.mnemonic());
        }
        List<Value> results = builder.addTyped(current, op, firsts, names, types);
        if (results.size() == 1) {
            vectors.note(op, firsts, results.getFirst());
            symbolic.grids().note(op, firsts, results.getFirst());
            ConstantData constant = vectors.constant(results.getFirst());
            return constant == null ? results : List.of(builder.constant(constant));
        }
        return results;
    }

    private static boolean allConstant(List<Value> operands) {
        for (int i = 0; i < operands.size(); i++) {
            if (operands.get(i).constant() == null) {
                return false;
            }
        }
        return true;
    }

    private @Nullable List<Value> resolve(Deferred op, List<Value> operands) {
        known.infer(op, operands); // checks what can be checked
        Set<Integer> needed = op.neededValues();
        List<@Nullable NdArray> values = new ArrayList<>();
        for (int i = 0; i < operands.size(); i++) {
            ConstantData data = needed.contains(i) ? operands.get(i).constant() : null;
            boolean missing = needed.contains(i) && data == null;
            if (missing || (op.needsShapes() && !operands.get(i).shape().isConcrete())) {
                return null;
            }
            values.add(data == null ? null : array(data));
        }
        return op.resolve(this, operands, index -> {
            NdArray value = values.get(index);
            if (value == null) {
                throw new IllegalStateException(
                        op.mnemonic() + " asks for the value of input " + index + ", which it did not declare");
            }
            return value;
        });
    }

    private NdArray array(ConstantData data) {
        return data.type().shape().elements() > MOST_KEPT
                ? NdArray.of(data)
                : arrays.computeIfAbsent(data, NdArray::of);
    }

    /** A loop that is not entered, or a short one that only its number of times ends; the runtime drives the others. */
    private @Nullable List<Value> unroll(Control op, List<Value> operands) {
        return switch (op) {
            case Loop loop -> {
                ConstantData times = operands.get(0).constant();
                ConstantData condition = operands.get(1).constant();
                boolean concrete =
                        operands.stream().allMatch(operand -> operand.shape().isConcrete());
                if (times == null || condition == null || !concrete) {
                    yield null;
                }
                op.infer(GraphBuilder.types(operands));
                long count = NdArray.of(condition).getLong(0) == 0
                        ? 0
                        : NdArray.of(times).getLong(0);
                yield loop.unrolls(count) ? loop.unroll(this, operands, count) : null;
            }
        };
    }

    private List<Value> decompose(Composite op, List<Value> operands) {
        op.infer(GraphBuilder.types(operands));
        return op.decompose(this, operands);
    }

    private @Nullable List<Value> fold(Primitive op, List<Value> operands) {
        List<TensorType> types = op.infer(GraphBuilder.types(operands));
        List<ConstantData> inputs = new ArrayList<>(operands.size());
        long held = 0;
        long elements = 0;
        for (Value operand : operands) {
            ConstantData data = Objects.requireNonNull(operand.constant());
            inputs.add(data);
            held += data.heldBytes();
            elements += data.type().shape().elements();
        }
        ConstantData folded = Splats.fold(op, inputs, types);
        folded = folded != null ? folded : Rows.fold(op, inputs, types);
        if (folded != null) {
            return List.of(builder.constant(folded));
        }
        for (TensorType type : types) {
            if (type.bytes() > Math.max(FOLD_BYTES, held)) {
                return null;
            }
            elements += type.shape().elements();
        }
        if (elements > FOLD_ELEMENTS) {
            return null;
        }
        try {
            List<NdArray> values = new ArrayList<>(inputs.size());
            for (ConstantData input : inputs) {
                values.add(NdArray.of(input));
            }
            List<Value> results = new ArrayList<>(types.size());
            for (NdArray result : op.evaluate(values)) {
                results.add(builder.constant(result.toConstant()));
            }
            return results;
        } catch (DataException e) {
            return null; // a fault in values is the run's to report, if the run ever gets there
        }
    }
}
