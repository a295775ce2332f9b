package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.build.Ops;
import dev.tenon.core.error.ImportException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.formats.onnx.schema.GraphProto;
import dev.tenon.formats.onnx.schema.TensorProto;
import dev.tenon.formats.onnx.tensor.ElementTypes;
import dev.tenon.formats.onnx.tensor.Tensors;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * One ONNX node as a mapping sees it: operator, version, inputs, attributes; and, as {@link Ops}, the graph to add to.
 * Every fault names the file, the node, the operator and its version.
 *
 * <p>Not thread-safe.
 */
public final class NodeContext implements Ops {
    /** Values that steer a mapping (axes, sizes, bounds) are small; larger ones are not read. */
    private static final long LARGEST_KNOWN = 1 << 16;

    /**
     * Which operator a node applies.
     *
     * @param where file, node, operator and version, for messages
     * @param label the node's name, for the nodes that are made of it
     * @param opset the version of the operator set that the model states
     */
    public record Applied(String where, String label, String op, long opset) {}

    private final GraphBuilder builder;
    private final String where;
    private final String label;
    private final String op;
    private final long opset;
    private final List<@Nullable Value> inputs;
    private final int results;
    private final Attributes attributes;
    private final Tensors tensors;
    private final Branches branches;

    /**
     * Of a node.
     *
     * @param inputs null where an optional input is left out
     * @param results how many results the node names, including names left empty
     */
    public NodeContext(
            GraphBuilder builder,
            Applied applied,
            List<@Nullable Value> inputs,
            int results,
            Attributes attributes,
            Tensors tensors,
            Branches branches) {
        this.builder = builder;
        this.where = applied.where;
        this.label = applied.label;
        this.op = applied.op;
        this.opset = applied.opset;
        this.inputs = new ArrayList<>(inputs);
        this.results = results;
        this.attributes = attributes;
        this.tensors = tensors;
        this.branches = branches;
    }

    public String op() {
        return op;
    }

    /** The node's name. */
    String label() {
        return label;
    }

    /** Whether the model's operator set is that version or newer. */
    boolean since(int version) {
        return opset >= version;
    }

    int results() {
        return results;
    }

    Branches branches() {
        return branches;
    }

    /** The number of inputs, holes included. */
    int inputs() {
        return inputs.size();
    }

    boolean has(int input) {
        return input < inputs.size() && inputs.get(input) != null;
    }

    /** Has a mapping see another value in the place of an input. */
    void replace(int input, Value value) {
        inputs.set(input, value);
    }

    /** The input. @throws ImportException where it is left out */
    Value in(int input) {
        Value value = input < inputs.size() ? inputs.get(input) : null;
        if (value == null) {
            throw error("input " + input + " is missing");
        }
        return value;
    }

    /** All inputs; none may be left out. */
    List<Value> all() {
        List<Value> all = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            all.add(in(i));
        }
        return all;
    }

    /** The elements of an input that is a small constant; null for any other. */
    @Nullable
    NdArray known(int input) {
        return has(input) ? known(in(input)) : null;
    }

    static @Nullable NdArray known(Value value) {
        return value.origin() instanceof Value.Origin.Constant(ConstantData data)
                        && data.type().shape().elements() <= LARGEST_KNOWN
                ? NdArray.of(data)
                : null;
    }

    /** The integers of an input that has to be a constant. */
    List<Long> constantLongs(int input, String role) {
        NdArray known = known(in(input));
        if (known == null) {
            throw error("the " + role + " must be a constant here");
        }
        return LongStream.of(known.toLongs()).boxed().toList();
    }

    /** The integers of an input that is a constant; null for any other. */
    @Nullable
    List<Long> knownLongs(int input) {
        NdArray known = known(input);
        return known == null ? null : LongStream.of(known.toLongs()).boxed().toList();
    }

    boolean hasAttr(String name) {
        return attributes.has(name);
    }

    long attrInt(String name, long absent) {
        return attributes.integer(name, absent);
    }

    /** @throws ImportException where the attribute is not there */
    long attrInt(String name) {
        if (!attributes.has(name)) {
            throw error("the attribute \"" + name + "\" is missing");
        }
        return attributes.integer(name, 0);
    }

    /** An attribute that counts: 0 or more, and small. */
    int attrCount(String name, long absent) {
        long count = attributes.integer(name, absent);
        if (count < 0 || count > Integer.MAX_VALUE) {
            throw error(name + " is " + count + "; expected 0 to " + Integer.MAX_VALUE);
        }
        return (int) count;
    }

    /** @throws ImportException where the attribute is not there, too, */
    int attrCount(String name) {
        attrInt(name);
        return attrCount(name, 0);
    }

    boolean attrFlag(String name, boolean absent) {
        return attributes.integer(name, absent ? 1 : 0) != 0;
    }

    double attrFloat(String name, double absent) {
        return attributes.number(name, absent);
    }

    String attrString(String name, String absent) {
        return attributes.string(name, absent);
    }

    List<Long> attrInts(String name) {
        return attributes.integers(name);
    }

    List<Float> attrFloats(String name) {
        return attributes.numbers(name);
    }

    List<String> attrStrings(String name) {
        return attributes.strings(name);
    }

    /** The element type that an attribute names by its code; {@code absent} without the attribute. */
    DType attrType(String name, DType absent) {
        return attributes.has(name) ? attrType(name) : absent;
    }

    /** @throws ImportException where the attribute is not there, or names a type that Tenon has not */
    DType attrType(String name) {
        long code = attrInt(name);
        DType type = ElementTypes.of(code);
        if (type == null) {
            throw error("element type " + ElementTypes.name(code) + " is not supported");
        }
        return type;
    }

    @Nullable
    ConstantData attrTensor(String name) {
        TensorProto tensor = attributes.tensor(name);
        return tensor == null ? null : tensors.read(tensor);
    }

    GraphProto attrGraph(String name) {
        return attributes.graph(name);
    }

    /**
     * An axis of a value, counted from the front.
     *
     * @throws ImportException when it is out of range, or counted from the back of a value whose rank is not known
     */
    int axis(Value x, long axis) {
        if (!x.shape().isRanked()) {
            if (axis < 0 || axis > Integer.MAX_VALUE) {
                throw error("axis " + axis + " of " + x + ", whose rank is not known before it runs");
            }
            return (int) axis;
        }
        return x.shape().axis(axis);
    }

    /** The rank of an input. @throws ImportException where it is not known */
    int rank(Value x) {
        if (!x.shape().isRanked()) {
            throw error("the rank of " + x + " must be known here");
        }
        return x.shape().rank();
    }

    /** A vector of 64-bit integers. */
    Value longs(List<Long> values) {
        return longs(values.stream().mapToLong(Long::longValue).toArray());
    }

    /** One 64-bit integer. */
    Value longScalar(long value) {
        return constant(NdArray.of(TensorType.of(DType.I64), value).toConstant());
    }

    Value longs(long... values) {
        return constant(NdArray.ofLongs(values).toConstant());
    }

    @Override
    public List<Value> addAll(Op added, List<Value> operands) {
        List<ConstantData> known = Folding.of(added, operands);
        return known != null ? known.stream().map(this::constant).toList() : builder.add(label, added, operands);
    }

    @Override
    public Value reshape(Value x, long... sizes) {
        ConstantData data = x.constant();
        if (data != null && LongStream.of(sizes).noneMatch(size -> size < 0)) {
            Shape shape = Shape.of(sizes);
            if (shape.elements() == data.type().shape().elements()) {
                return constant(data.reshaped(shape));
            }
        }
        return x.shape().isRanked()
                ? Ops.super.reshape(x, sizes)
                : ShapeChanges.reshape(this, x, LongStream.of(sizes).boxed().toList(), true);
    }

    /** Adds a node whose only result is known to be of a more precise type than the operation's rules can tell. */
    Value addTyped(Op added, TensorType type, Value... operands) {
        return builder.addTyped(label, added, List.of(operands), List.of(added.mnemonic()), List.of(type))
                .getFirst();
    }

    @Override
    public Value constant(ConstantData data) {
        return builder.constant(label, data);
    }

    ImportException error(String what) {
        return new ImportException(where + ": " + what);
    }
}
