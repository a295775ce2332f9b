package dev.tenon.core.ir;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.error.TenonException;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a node does: a record that checks its own attributes and owns its rules.
 *
 * <p>A {@link Primitive} is what backends run; a {@link Composite} is written in terms of other operations, and a
 * backend may still claim it whole; a {@link Deferred} becomes other operations once the values that its result's shape
 * depends on are known; a {@link Control} runs a graph of its own as often as values say.
 *
 * <p>Optional inputs are declared by the record's own flags: a node never has holes among its inputs.
 */
public sealed interface Op permits Primitive, Composite, Deferred, Control {
    /** How many inputs the operation takes. */
    Arity arity();

    /**
     * The element types of the results, from those of the inputs.
     *
     * @throws dev.tenon.core.error.DTypeException when they do not fit
     */
    List<DType> dtypes(List<DType> inputs);

    /**
     * The shapes of the results, from those of the inputs, all of which have a rank here. Dims may be named or unknown;
     * the rule answers what it can tell.
     *
     * @throws dev.tenon.core.error.ShapeException when they cannot fit
     */
    List<Shape> shapes(List<Shape> inputs);

    /**
     * Both rules at once, after the number of inputs; results have no rank where an input has none.
     *
     * @throws TenonException of the rules, with this operation and the types of its inputs
     */
    default List<TensorType> infer(List<TensorType> inputs) {
        try {
            return inferred(inputs);
        } catch (TenonException e) {
            throw e.within(mnemonic(), inputs.stream().map(TensorType::toString).toList());
        }
    }

    private List<TensorType> inferred(List<TensorType> inputs) {
        int count = inputs.size();
        arity().check(mnemonic(), count);
        DType[] given = new DType[count];
        Shape[] sizes = new Shape[count];
        boolean ranked = true;
        for (int i = 0; i < count; i++) {
            given[i] = inputs.get(i).dtype();
            sizes[i] = inputs.get(i).shape();
            ranked &= sizes[i].isRanked();
        }
        List<DType> dtypes = dtypes(List.of(given));
        List<Shape> shapes = List.of();
        try {
            shapes = ranked ? shapes(List.of(sizes)) : shapes;
        } catch (ShapeException e) {
            String message = String.valueOf(e.getMessage());
            throw message.startsWith(SizeMath.DIMS + ":")
                    ? new ShapeException(mnemonic() + message.substring(SizeMath.DIMS.length()), e)
                    : e;
        }
        if (ranked && shapes.size() != dtypes.size()) {
            throw new InputException(mnemonic() + ": the rule for types gives " + dtypes.size()
                    + " result(s), the rule for shapes " + shapes.size() + "; expected as many");
        }
        TensorType[] results = new TensorType[dtypes.size()];
        for (int i = 0; i < results.length; i++) {
            results[i] = counted(mnemonic(), new TensorType(dtypes.get(i), ranked ? shapes.get(i) : Shape.unranked()));
        }
        return List.of(results);
    }

    /**
     * A result's type once its bytes are known to be a number: arithmetic on the sizes of a value cannot overflow after
     * that.
     */
    private static TensorType counted(String op, TensorType type) {
        try {
            if (type.shape().isConcrete()) {
                type.bytes();
            }
            return type;
        } catch (ShapeException | OutOfMemoryException e) {
            throw new OutOfMemoryException(
                    op + ": the result " + type + " takes more than 2^63 bytes; expected fewer", e);
        }
    }

    /**
     * The records of the kinds that list theirs, or of one kind or more of those; composites, of which anyone may write
     * more, are not among them.
     */
    static Stream<Class<?>> records(Class<?>... kinds) {
        return Stream.of(kinds.length == 0 ? new Class<?>[] {Op.class} : kinds)
                .flatMap(kind -> kind.isSealed()
                        ? records(kind.getPermittedSubclasses())
                        : kind.isRecord() ? Stream.of(kind) : Stream.empty());
    }

    /** The name in the text form and in messages: the record's, in lower-case words joined by {@code _}. */
    default String mnemonic() {
        return Mnemonics.of(getClass());
    }
}
