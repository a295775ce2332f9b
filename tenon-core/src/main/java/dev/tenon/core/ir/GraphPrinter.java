package dev.tenon.core.ir;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Writes one graph, and the graphs within it, in the form of {@link GraphText}. Used once. */
final class GraphPrinter {
    private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z0-9_./$-]+");
    private static final Pattern PLAIN_DIM = Pattern.compile("[A-Za-z_][A-Za-z0-9_.]*");

    private final StringBuilder text = new StringBuilder();
    private final List<ConstantData> outside = new ArrayList<>();
    private String indent = "";

    /** The constants left out, whose keys are their places here. */
    List<ConstantData> outside() {
        return outside;
    }

    String print(Graph graph) {
        add(graph);
        return text.append('\n').toString();
    }

    private void add(Graph graph) {
        String outer = indent;
        text.append("graph ");
        quote(graph.name());
        text.append(" {");
        indent = outer + "  ";
        graph.inputs().forEach(value -> given("input ", value));
        graph.parameters().forEach(value -> given("param ", value));
        for (Value value : graph.constants()) {
            given("const ", value);
            if (value.origin() instanceof Value.Origin.Constant(ConstantData data)) {
                text.append(" = ");
                elements(data);
            }
        }
        graph.nodes().forEach(this::node);
        graph.outputs().forEach((name, value) -> {
            line();
            text.append("output ");
            quote(name);
            text.append(" = ");
            use(value);
        });
        indent = outer;
        line();
        text.append('}');
    }

    private void line() {
        text.append('\n').append(indent);
    }

    private void given(String role, Value value) {
        line();
        text.append(role);
        define(value);
    }

    private void node(Node node) {
        line();
        separated(node.outputs(), this::define);
        text.append(" = ");
        op(node.op());
        if (!node.inputs().isEmpty()) {
            text.append(' ');
            separated(node.inputs(), this::use);
        }
        if (!node.name().isEmpty()) {
            text.append(" @");
            quote(node.name());
        }
    }

    private <T> void separated(List<T> all, Consumer<T> each) {
        for (int i = 0; i < all.size(); i++) {
            text.append(i == 0 ? "" : ", ");
            each.accept(all.get(i));
        }
    }

    private void define(Value value) {
        use(value);
        text.append(": ");
        type(value.type());
    }

    private void use(Value value) {
        text.append('%');
        if (PLAIN_NAME.matcher(value.name()).matches()) {
            text.append(value.name());
        } else {
            quote(value.name());
        }
    }

    private void type(TensorType type) {
        text.append(type.dtype()).append('[');
        if (type.shape().isRanked()) {
            for (int axis = 0; axis < type.shape().rank(); axis++) {
                text.append(axis == 0 ? "" : ",");
                dim(type.shape().dim(axis));
            }
        } else {
            text.append("...");
        }
        text.append(']');
    }

    private void dim(Dim dim) {
        if (dim instanceof Dim.Named(String name) && !PLAIN_DIM.matcher(name).matches()) {
            quote(name);
        } else {
            text.append(dim);
        }
    }

    private void elements(ConstantData data) {
        switch (data) {
            case ConstantData.Splat(TensorType type, long element) ->
                text.append("splat ").append(ElementText.print(type.dtype(), element));
            case ConstantData.Dense(TensorType type, MemorySegment segment, var _)
            when type.shape().elements() <= GraphText.INLINE_ELEMENTS -> {
                text.append('[');
                for (int i = 0; i < type.shape().elements(); i++) {
                    text.append(i == 0 ? "" : ", ");
                    text.append(ElementText.print(type.dtype(), Elements.bits(type.dtype(), segment, i)));
                }
                text.append(']');
            }
            case ConstantData.Dense dense -> {
                text.append("data(");
                quote(Integer.toString(outside.size()));
                text.append(')');
                outside.add(dense);
            }
        }
    }

    private void op(Op op) {
        text.append(op.mnemonic());
        attributes(op, false);
    }

    /** {@code (name=value, ...)}; nothing where all are left out, unless the parentheses are wanted. */
    private void attributes(Object owner, boolean always) {
        boolean open = false;
        for (RecordForm.Attribute attribute : RecordForm.of(owner.getClass()).attributes()) {
            Object value = attribute.of(owner);
            if (!Objects.equals(value, attribute.usual())) {
                text.append(open ? ", " : "(").append(attribute.name()).append('=');
                value(value, attribute.type());
                open = true;
            }
        }
        text.append(open ? ")" : always ? "()" : "");
    }

    private void value(@Nullable Object value, Type declared) {
        switch (value) {
            // of a class of the program's own
            case Object own
            when declared instanceof Class<?> type && type.isInterface() && !type.isSealed() -> quote(own.toString());
            case List<?> list -> {
                Type element = ((ParameterizedType) declared).getActualTypeArguments()[0];
                text.append('[');
                separated(list, item -> value(item, element));
                text.append(']');
            }
            case String string -> quote(string);
            case DType dtype -> text.append(dtype);
            case Enum<?> constant -> text.append(constant.name().toLowerCase(Locale.ROOT));
            case Graph graph -> add(graph);
            case ConstantData data -> {
                type(data.type());
                text.append(' ');
                elements(data);
            }
            // an operation of any kind says which; where the kind is declared, as in an epilogue, its attributes do
            case Op op when !(declared instanceof Class<?> type && type.isRecord()) -> op(op);
            case Record nested -> attributes(nested, true);
            case null, default -> text.append(value);
        }
    }

    private void quote(String string) {
        text.append('"');
        for (int i = 0; i < string.length(); i++) {
            char c = string.charAt(i);
            switch (c) {
                case '"', '\\' -> text.append('\\').append(c);
                case '\n' -> text.append("\\n");
                default -> {
                    if (c < ' ' || Character.isSurrogate(c)) {
                        text.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
                    } else {
                        text.append(c);
                    }
                }
            }
        }
        text.append('"');
    }
}
