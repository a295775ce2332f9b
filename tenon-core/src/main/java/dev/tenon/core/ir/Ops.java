package dev.tenon.core.ir;

import dev.tenon.core.ir.op.Binary;
import dev.tenon.core.ir.op.BinaryFn;
import dev.tenon.core.ir.op.Cast;
import dev.tenon.core.ir.op.Compare;
import dev.tenon.core.ir.op.CompareFn;
import dev.tenon.core.ir.op.Concat;
import dev.tenon.core.ir.op.Epilogue;
import dev.tenon.core.ir.op.Expand;
import dev.tenon.core.ir.op.Gather;
import dev.tenon.core.ir.op.LayerNorm;
import dev.tenon.core.ir.op.MatMul;
import dev.tenon.core.ir.op.Reduce;
import dev.tenon.core.ir.op.ReduceFn;
import dev.tenon.core.ir.op.Reshape;
import dev.tenon.core.ir.op.Slice;
import dev.tenon.core.ir.op.Softmax;
import dev.tenon.core.ir.op.Transpose;
import dev.tenon.core.ir.op.Unary;
import dev.tenon.core.ir.op.UnaryFn;
import dev.tenon.core.ir.op.Where;
import java.util.List;
import java.util.stream.IntStream;

/** Adding operations to a graph under construction, in words. */
public interface Ops {
    /** Adds a node; its results in order. */
    List<Value> addAll(Op op, List<Value> operands);

    Value constant(ConstantData data);

    /** Adds a node; its first result. */
    default Value add(Op op, Value... operands) {
        return addAll(op, List.of(operands)).getFirst();
    }

    /** A scalar of that type. */
    default Value scalar(DType dtype, double value) {
        return constant(new ConstantData.Splat(TensorType.of(dtype), Elements.fromDouble(dtype, value)));
    }

    default Value unary(UnaryFn fn, Value x) {
        return add(Unary.of(fn), x);
    }

    default Value binary(BinaryFn fn, Value a, Value b) {
        return add(new Binary(fn), a, b);
    }

    default Value plus(Value a, Value b) {
        return binary(BinaryFn.ADD, a, b);
    }

    default Value minus(Value a, Value b) {
        return binary(BinaryFn.SUB, a, b);
    }

    default Value times(Value a, Value b) {
        return binary(BinaryFn.MUL, a, b);
    }

    default Value div(Value a, Value b) {
        return binary(BinaryFn.DIV, a, b);
    }

    default Value compare(CompareFn fn, Value a, Value b) {
        return add(new Compare(fn), a, b);
    }

    default Value where(Value condition, Value a, Value b) {
        return add(new Where(), condition, a, b);
    }

    default Value relu(Value x) {
        return unary(UnaryFn.RELU, x);
    }

    /** The value itself where it has that type already. */
    default Value cast(Value x, DType to) {
        return x.dtype() == to ? x : add(new Cast(to, true), x);
    }

    default Value matmul(Value a, Value b) {
        return add(new MatMul(false, false, Epilogue.NONE), a, b);
    }

    default Value softmax(Value x, int axis) {
        return add(new Softmax(x.shape().axis(axis)), x);
    }

    default Value layerNorm(Value x, Value scale, Value bias, double epsilon) {
        return add(new LayerNorm(x.shape().rank() - 1, epsilon, true, true), x, scale, bias);
    }

    /** Reduces those axes, negative ones from the back. @throws dev.tenon.core.error.ShapeException for one out of range or named twice */
    default Value reduce(ReduceFn fn, Value x, boolean keepDims, int... axes) {
        return add(
                new Reduce(
                        fn,
                        IntStream.of(axes)
                                .mapToObj(axis -> x.shape().axis(axis))
                                .sorted()
                                .toList(),
                        keepDims),
                x);
    }

    default Value reshape(Value x, long... sizes) {
        return add(
                new Reshape(
                        IntStream.range(0, sizes.length).mapToObj(i -> sizes[i]).toList()),
                x);
    }

    default Value transpose(Value x, Integer... permutation) {
        return add(new Transpose(List.of(permutation)), x);
    }

    /** The elements [from, to) of an axis. */
    default Value narrow(Value x, int axis, long from, long to) {
        int rank = x.shape().rank();
        List<Long> starts =
                IntStream.range(0, rank).mapToObj(i -> i == axis ? from : 0L).toList();
        List<Long> sizes = IntStream.range(0, rank)
                .mapToObj(i -> i == axis ? to - from : x.shape().size(i))
                .toList();
        return add(new Slice(starts, sizes, java.util.Collections.nCopies(rank, 1L)), x);
    }

    default Value concat(int axis, Value... parts) {
        return add(new Concat(axis), parts);
    }

    default Value expand(Value x, long... sizes) {
        return add(
                new Expand(
                        IntStream.range(0, sizes.length).mapToObj(i -> sizes[i]).toList()),
                x);
    }

    default Value gather(Value data, Value indices, int axis) {
        return add(new Gather(data.shape().axis(axis)), data, indices);
    }
}
