package dev.tenon.core.build;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.stream.IntStream;

/** Adding operations to a graph under construction, in words. Axes may be negative: they then count from the back. */
public interface Ops extends OpBuilder {
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
        return Cast.to(this, x, to);
    }

    default Value matmul(Value a, Value b) {
        return add(MatMul.plain(), a, b);
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
        return add(Reshape.to(sizes), x);
    }

    /** The result's axis i is the input's axis {@code permutation[i]}. */
    default Value transpose(Value x, int... permutation) {
        return add(Transpose.of(permutation), x);
    }

    /** The elements [from, to) of an axis. */
    default Value narrow(Value x, int axis, long from, long to) {
        return add(Slice.along(x.shape(), x.shape().axis(axis), from, to), x);
    }

    default Value concat(int axis, Value... parts) {
        return add(new Concat(parts[0].shape().axis(axis)), parts);
    }

    default Value expand(Value x, long... sizes) {
        return add(Expand.to(sizes), x);
    }

    default Value gather(Value data, Value indices, int axis) {
        return add(new Gather(data.shape().axis(axis)), data, indices);
    }
}
