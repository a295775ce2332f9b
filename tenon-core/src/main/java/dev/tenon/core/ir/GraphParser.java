package dev.tenon.core.ir;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.TenonException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reads one graph, or a graph within one, in the form of {@link GraphText}. Used once. */
final class GraphParser {
    private final TextCursor cursor;
    private final Function<String, @Nullable ConstantData> data;
    private final Map<String, Value> values = new HashMap<>();
    private final List<Value> inputs = new ArrayList<>();
    private final List<Value> parameters = new ArrayList<>();
    private final List<Node> nodes = new ArrayList<>();
    private final Map<String, Value> outputs = new LinkedHashMap<>();

    GraphParser(TextCursor cursor, Function<String, @Nullable ConstantData> data) {
        this.cursor = cursor;
        this.data = data;
    }

    Graph graph() {
        cursor.take("graph");
        String name = cursor.quoted();
        cursor.take("{");
        while (!cursor.tryTake("}")) {
            statement();
        }
        Graph graph = new Graph(name, inputs, parameters, nodes, outputs, Graph.Defaults.NONE);
        Verifier.verify(graph);
        return graph;
    }

    private void statement() {
        if (cursor.peek() == '%') {
            node();
            return;
        }
        String role = cursor.word("a statement or \"}\"");
        switch (role) {
            case "input" -> inputs.add(given(new Value.Origin.Input()));
            case "param" -> parameters.add(given(new Value.Origin.Parameter()));
            case "const" -> constant();
            case "output" -> output();
            default ->
                throw cursor.error("expected input, param, const, output, a value or \"}\", found \"" + role + "\"");
        }
    }

    private Value given(Value.Origin origin) {
        String name = valueName();
        cursor.take(":");
        return define(new Value(name, type(), origin));
    }

    private void constant() {
        String name = valueName();
        cursor.take(":");
        TensorType type = type();
        cursor.take("=");
        define(new Value(name, type, new Value.Origin.Constant(elements(type))));
    }

    private void output() {
        String name = cursor.quoted();
        cursor.take("=");
        if (outputs.putIfAbsent(name, used()) != null) {
            throw cursor.error("a second output is named \"" + name + "\"");
        }
    }

    private Value define(Value value) {
        if (values.putIfAbsent(value.name(), value) != null) {
            throw cursor.error("a second value is named %" + value.name());
        }
        return value;
    }

    private Value used() {
        String name = valueName();
        Value value = values.get(name);
        if (value == null) {
            throw cursor.error("no value named %" + name + " stands before");
        }
        return value;
    }

    private String valueName() {
        cursor.take("%");
        return cursor.peek() == '"' ? cursor.quoted() : cursor.word("a value's name");
    }

    private void node() {
        List<String> names = new ArrayList<>();
        List<TensorType> types = new ArrayList<>();
        do {
            names.add(valueName());
            cursor.take(":");
            types.add(type());
        } while (cursor.tryTake(","));
        cursor.take("=");
        Op op = op();
        List<Value> operands = new ArrayList<>();
        if (!cursor.lineEnds() && cursor.peek() == '%') {
            do {
                operands.add(used());
            } while (cursor.tryTake(","));
        }
        String name = cursor.tryTake("@") ? cursor.quoted() : "";
        Node node = new Node(name, op, operands, names, types);
        node.outputs().forEach(this::define);
        nodes.add(node);
    }

    private TensorType type() {
        String name = cursor.word("an element type");
        DType dtype = checked(() -> DType.parse(name));
        cursor.take("[");
        if (cursor.tryTake("...")) {
            cursor.take("]");
            return new TensorType(dtype, Shape.unranked());
        }
        List<Dim> dims = new ArrayList<>();
        while (cursor.peek() != ']') {
            if (!dims.isEmpty()) {
                cursor.take(",");
            }
            dims.add(dim());
        }
        cursor.take("]");
        return new TensorType(dtype, Shape.of(dims));
    }

    private Dim dim() {
        if (cursor.tryTake("?")) {
            return Dim.unknown();
        }
        if (cursor.peek() == '"') {
            return Dim.named(cursor.quoted());
        }
        String word = cursor.word("a dim");
        char first = word.charAt(0);
        boolean number = first == '-' || (first >= '0' && first <= '9');
        return number ? checked(() -> Dim.of(Long.parseLong(word))) : Dim.named(word);
    }

    private ConstantData elements(TensorType type) {
        if (!type.shape().isConcrete()) {
            throw cursor.error("a constant needs a number for each dim, has " + type);
        }
        if (cursor.tryTake("splat")) {
            return new ConstantData.Splat(type, element(type.dtype()));
        }
        if (cursor.tryTake("data")) {
            cursor.take("(");
            String key = cursor.quoted();
            cursor.take(")");
            ConstantData found = data.apply(key);
            if (found == null || !found.type().equals(type)) {
                throw cursor.error("constant " + type + " refers to data \"" + key + "\", which is "
                        + (found == null ? "not given" : found.type()));
            }
            return found;
        }
        cursor.take("[");
        List<Long> bits = new ArrayList<>();
        while (cursor.peek() != ']') {
            if (!bits.isEmpty()) {
                cursor.take(",");
            }
            bits.add(element(type.dtype()));
        }
        cursor.take("]");
        if (bits.size() != type.shape().elements()) {
            throw cursor.error("constant " + type + " has " + bits.size() + " elements; expected "
                    + type.shape().elements());
        }
        MemorySegment segment = HostMemory.allocate(type.bytes(), 64);
        for (int i = 0; i < bits.size(); i++) {
            Elements.setBits(type.dtype(), segment, i, bits.get(i));
        }
        return new ConstantData.Dense(type, segment);
    }

    private long element(DType dtype) {
        String word = cursor.word("an element");
        return checked(() -> ElementText.parse(dtype, word));
    }

    private Op op() {
        String mnemonic = cursor.word("an operation");
        Class<?> type = Operations.named(mnemonic);
        if (type == null) {
            throw cursor.error("no operation \"" + mnemonic + "\"");
        }
        return (Op) make(type, cursor.tryTake("("));
    }

    /** A record from the attributes up to the closing parenthesis, or from none at all. */
    private Object make(Class<?> type, boolean open) {
        List<RecordForm.Attribute> attributes = RecordForm.of(type).attributes();
        @Nullable
        Object[] arguments =
                attributes.stream().map(RecordForm.Attribute::usual).toArray();
        boolean[] given = new boolean[arguments.length];
        while (open && cursor.peek() != ')') {
            String name = cursor.word("an attribute");
            int index =
                    attributes.stream().map(RecordForm.Attribute::name).toList().indexOf(name);
            if (index < 0 || given[index]) {
                throw cursor.error(Mnemonics.of(type) + (index < 0 ? " has no attribute \"" : " has two attributes \"")
                        + name + "\"");
            }
            cursor.take("=");
            arguments[index] = value(attributes.get(index).type());
            given[index] = true;
            if (cursor.peek() != ')') {
                cursor.take(",");
            }
        }
        if (open) {
            cursor.take(")");
        }
        for (int i = 0; i < arguments.length; i++) {
            // only a nested record is ever null
            if (arguments[i] == null && !(attributes.get(i).type() instanceof Class<?> plain && plain.isRecord())) {
                throw cursor.error(Mnemonics.of(type) + " needs attribute \""
                        + attributes.get(i).name() + "\"");
            }
        }
        try {
            return RecordForm.of(type).make(arguments);
        } catch (InvocationTargetException e) {
            Throwable cause = e.getTargetException();
            throw cursor.error(Mnemonics.of(type) + " cannot have these attributes: " + cause.getMessage(), cause);
        }
    }

    private @Nullable Object value(Type type) {
        if (type instanceof ParameterizedType list) {
            return list(list.getActualTypeArguments()[0]);
        }
        Class<?> plain = (Class<?>) type;
        if (plain == Graph.class) {
            return new GraphParser(cursor, data).graph();
        } else if (plain == ConstantData.class) {
            return elements(type());
        } else if (plain == String.class) {
            return cursor.quoted();
        } else if (plain.isRecord() && cursor.tryTake("(")) {
            return make(plain, true);
        } else if (Op.class.isAssignableFrom(plain) && !plain.isRecord()) {
            Op op = op();
            if (!plain.isInstance(op)) {
                throw cursor.error("operation \"" + op.mnemonic() + "\" is of another kind; expected one that is "
                        + Mnemonics.of(plain));
            }
            return op;
        }
        String word = cursor.word("a value");
        return word.equals("null") ? null : checked(() -> scalar(plain, word));
    }

    private Object scalar(Class<?> type, String word) {
        if (type == boolean.class && (word.equals("true") || word.equals("false"))) {
            return word.equals("true");
        } else if (type == int.class || type == Integer.class) {
            return Integer.parseInt(word);
        } else if (type == long.class || type == Long.class) {
            return Long.parseLong(word);
        } else if (type == double.class || type == Double.class) {
            return Double.parseDouble(word);
        } else if (type == DType.class) {
            return DType.parse(word);
        } else if (type.isEnum()) {
            for (Object constant : type.getEnumConstants()) {
                if (((Enum<?>) constant).name().toLowerCase(Locale.ROOT).equals(word)) {
                    return constant;
                }
            }
        }
        throw cursor.error("expected a value of " + type.getSimpleName() + ", found \"" + word + "\"");
    }

    private List<Object> list(Type element) {
        cursor.take("[");
        List<Object> all = new ArrayList<>();
        while (cursor.peek() != ']') {
            if (!all.isEmpty()) {
                cursor.take(",");
            }
            Object value = value(element);
            if (value == null) {
                throw cursor.error("a list cannot hold null");
            }
            all.add(value);
        }
        cursor.take("]");
        return List.copyOf(all);
    }

    /** What the supplier gives; its faults with the line. */
    private <T> T checked(Supplier<T> supplier) {
        try {
            return supplier.get();
        } catch (ImportException e) {
            throw e;
        } catch (NumberFormatException | TenonException e) {
            throw cursor.error("" + e.getMessage(), e);
        }
    }
}
