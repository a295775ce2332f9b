package dev.tenon.core.ir.op;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import java.util.List;
import java.util.stream.LongStream;
import org.assertj.core.data.Offset;

/** Arrays and checks in few words. */
public final class Nd {
    private Nd() {}

    public static NdArray f32(Shape shape, double... values) {
        return NdArray.of(new TensorType(DType.F32, shape), values);
    }

    /** A vector. */
    public static NdArray f32(double... values) {
        return f32(Shape.of(values.length), values);
    }

    public static NdArray full(Shape shape, double value) {
        NdArray array = NdArray.zeros(new TensorType(DType.F32, shape));
        for (int i = 0; i < array.size(); i++) {
            array.set(i, value);
        }
        return array;
    }

    /** 1, 2, 3… as f32. */
    public static NdArray counting(Shape shape) {
        NdArray array = NdArray.zeros(new TensorType(DType.F32, shape));
        for (int i = 0; i < array.size(); i++) {
            array.set(i, i + 1.0);
        }
        return array;
    }

    public static NdArray ints(DType dtype, Shape shape, long... values) {
        return NdArray.of(new TensorType(dtype, shape), values);
    }

    public static NdArray run(Primitive op, NdArray... inputs) {
        return op.evaluate(List.of(inputs)).getFirst();
    }

    /** Within 1e-6 of those values, relative where they are large, NaN equal to NaN. */
    public static void check(NdArray array, Shape shape, double... values) {
        assertThat(array.shape()).isEqualTo(shape);
        assertThat(array.toDoubles()).hasSize(values.length);
        for (int i = 0; i < values.length; i++) {
            if (Double.isNaN(values[i]) || Double.isInfinite(values[i])) {
                assertThat(array.get(i)).as("element %d of %s", i, array).isEqualTo(Double.valueOf(values[i]));
            } else {
                assertThat(array.get(i))
                        .as("element %d of %s", i, array)
                        .isCloseTo(values[i], Offset.offset(1e-6 * Math.max(1, Math.abs(values[i]))));
            }
        }
    }

    public static Shape shape(long... sizes) {
        return Shape.of(sizes);
    }

    public static List<Long> longs(long... values) {
        return LongStream.of(values).boxed().toList();
    }
}
