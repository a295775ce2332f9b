package dev.tenon.core.ir.op.custom;

import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Applies an operation that a program defines.
 *
 * <p>Inputs, results, types and edge values are the definition's. The mnemonic is the definition's name. The text form
 * of graphs prints the definition as its {@code toString}, and does not read it.
 */
public record Custom(CustomOp definition) implements Primitive {
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]*");

    /** @throws InputException when the definition's name is not a word */
    public Custom {
        String name = definition.name();
        if (!NAME.matcher(name).matches()) {
            throw InputException.of(
                    "definition",
                    "custom: the name \"" + name
                            + "\"; expected lower-case letters, digits and underscores, a letter first");
        }
    }

    @Override
    public String mnemonic() {
        return definition.name();
    }

    @Override
    public Arity arity() {
        return definition.arity();
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return definition.dtypes(inputs);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return definition.shapes(inputs);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        return definition.evaluate(inputs);
    }
}
