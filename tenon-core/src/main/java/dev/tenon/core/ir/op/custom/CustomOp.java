package dev.tenon.core.ir.op.custom;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import java.util.List;
import java.util.Optional;

/**
 * Defines an operation of a program's own; a graph applies it as {@link Custom}. Best written as a record whose
 * components are its attributes: equal definitions on equal inputs are computed once.
 *
 * <p>An application is a pure function of its inputs and attributes: it may be folded, shared, repeated or dropped.
 * Tensors are dense and row-major. Called by several threads at once.
 */
public interface CustomOp {
    /** Names the operation in graphs, reports and messages: lower-case letters, digits and {@code _}. */
    String name();

    /** Says how many inputs it takes. */
    Arity arity();

    /**
     * Gives the element types of the results.
     *
     * @throws dev.tenon.core.error.DTypeException when the inputs' types do not fit
     */
    List<DType> dtypes(List<DType> inputs);

    /**
     * Gives the shapes of the results, one for each of {@link #dtypes}. Dims may be named or unknown; the rule answers
     * what it can tell.
     *
     * @throws dev.tenon.core.error.ShapeException when the inputs' shapes cannot fit
     */
    List<Shape> shapes(List<Shape> inputs);

    /**
     * Computes the results in float64, exactly for integers: the meaning of the operation, and what runs where there is
     * no body.
     *
     * @throws dev.tenon.core.error.DataException for values without a result
     */
    List<NdArray> evaluate(List<NdArray> inputs);

    /**
     * Gives the body for the CPU. Empty, the default, has the CPU backend run {@link #evaluate}.
     *
     * @param inputs concrete types
     * @param results concrete types, as the rules gave them
     */
    default Optional<HostBody> hostBody(List<TensorType> inputs, List<TensorType> results) {
        return Optional.empty();
    }

    /**
     * Gives the body for devices that are programmed in a language. Empty, the default, has the CPU run the node
     * between two copies. Not called where all results are empty.
     *
     * @param language {@link DeviceSource#CUDA}
     * @param inputs concrete types
     * @param results concrete types, as the rules gave them
     */
    default Optional<DeviceBody> deviceBody(String language, List<TensorType> inputs, List<TensorType> results) {
        return Optional.empty();
    }

    /**
     * Says what a value means that a kernel reported as one without a result ({@link DeviceLaunch#faults}).
     *
     * @return words for a message, without the operation's name
     */
    default String fault(long value) {
        return "the value " + value + " has no result";
    }
}
