package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.error.ImportException;
import dev.tenon.formats.onnx.schema.AttributeProto;
import dev.tenon.formats.onnx.schema.GraphProto;
import dev.tenon.formats.onnx.schema.TensorProto;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The attributes of one node, references to those of the surrounding function already followed. Immutable. */
public final class Attributes {
    private final String where;
    private final Map<String, AttributeProto> byName;

    private Attributes(String where, Map<String, AttributeProto> byName) {
        this.where = where;
        this.byName = byName;
    }

    /**
     * @param where names the node in messages
     * @param enclosing the attributes that the surrounding function was called with; empty outside a function
     */
    public static Attributes of(String where, List<AttributeProto> own, Map<String, AttributeProto> enclosing) {
        Map<String, AttributeProto> byName = new LinkedHashMap<>();
        for (AttributeProto attribute : own) {
            AttributeProto meant = attribute.reference().isEmpty() ? attribute : enclosing.get(attribute.reference());
            // a reference to an attribute that the caller left out leaves this one out too
            if (meant != null && byName.put(attribute.name(), meant) != null) {
                throw new ImportException(where + ": attribute \"" + attribute.name() + "\" is given twice");
            }
        }
        return new Attributes(where, byName);
    }

    public Map<String, AttributeProto> byName() {
        return byName;
    }

    boolean has(String name) {
        return byName.containsKey(name);
    }

    long integer(String name, long absent) {
        AttributeProto attribute = find(name, AttributeProto.INT);
        return attribute == null ? absent : attribute.intValue();
    }

    double number(String name, double absent) {
        AttributeProto attribute = find(name, AttributeProto.FLOAT);
        return attribute == null ? absent : attribute.floatValue();
    }

    String string(String name, String absent) {
        AttributeProto attribute = find(name, AttributeProto.STRING);
        return attribute == null ? absent : attribute.text();
    }

    /** Empty where the attribute is not there. */
    List<Long> integers(String name) {
        AttributeProto attribute = find(name, AttributeProto.INTS);
        return attribute == null ? List.of() : attribute.ints();
    }

    /** Empty where the attribute is not there. */
    List<Float> numbers(String name) {
        AttributeProto attribute = find(name, AttributeProto.FLOATS);
        return attribute == null ? List.of() : attribute.floats();
    }

    /** Empty where the attribute is not there. */
    List<String> strings(String name) {
        AttributeProto attribute = find(name, AttributeProto.STRINGS);
        return attribute == null ? List.of() : attribute.texts();
    }

    @Nullable
    TensorProto tensor(String name) {
        AttributeProto attribute = find(name, AttributeProto.TENSOR);
        return attribute == null ? null : attribute.tensor();
    }

    GraphProto graph(String name) {
        AttributeProto attribute = find(name, AttributeProto.GRAPH);
        if (attribute == null || attribute.graph() == null) {
            throw new ImportException(where + ": the graph attribute \"" + name + "\" is missing");
        }
        return attribute.graph();
    }

    private @Nullable AttributeProto find(String name, int type) {
        AttributeProto attribute = byName.get(name);
        if (attribute != null && attribute.type() != type) {
            throw new ImportException(where + ": attribute \"" + name + "\" is of type " + attribute.typeName()
                    + "; expected " + AttributeProto.typeName(type));
        }
        return attribute;
    }
}
