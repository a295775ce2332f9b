package dev.tenon.core.ir.op.elementwise;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Locale;

/**
 * One function of two numbers of one type, element by element, with numpy broadcasting; {@link BinaryFn} says what each means.
 *
 * <p>[a, b] → [y], of the broadcast shape and the operands' type. {@code ATAN2} takes floats, {@code AND OR XOR} booleans, the {@code BIT_*} and shifts integers, the others any number.
 */
public record Binary(BinaryFn fn) implements Primitive {
    static String word(BinaryFn fn) {
        return fn.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        String op = word(fn);
        DType type = Rules.same(op, inputs);
        return List.of(
                switch (fn) {
                    case ATAN2 -> Rules.require(op, "inputs", type, DType::isFloat, "a float type");
                    case AND, OR, XOR -> Rules.require(op, "inputs", type, t -> t == DType.BOOL, "bool");
                    case BIT_AND, BIT_OR, BIT_XOR, SHL, SHR ->
                        Rules.require(op, "inputs", type, DType::isInteger, "an integer type");
                    case ADD, SUB, MUL, DIV, FLOOR_DIV, MOD, FMOD, POW, PRELU, MAX, MIN ->
                        Rules.require(op, "inputs", type, DType::isNumeric, "a number type");
                });
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return List.of(Rules.broadcast(word(fn), inputs));
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray y = Rules.result(this, inputs);
        NdArray a = inputs.get(0);
        NdArray b = inputs.get(1);
        int[] atA = Indexing.broadcast(a.shape(), y.shape());
        int[] atB = Indexing.broadcast(b.shape(), y.shape());
        boolean floats = y.dtype().isFloat();
        for (int i = 0; i < y.size(); i++) {
            if (floats) {
                y.set(i, ScalarMath.apply(fn, a.get(atA[i]), b.get(atB[i])));
            } else {
                y.set(i, ScalarMath.apply(fn, y.dtype(), a.getLong(atA[i]), b.getLong(atB[i])));
            }
        }
        return List.of(y);
    }
}
