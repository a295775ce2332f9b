package dev.tenon.core.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TensorTest {
    @ParameterizedTest
    @EnumSource(DType.class)
    void everyTypeIsReadAsNumbersAndAsArrays(DType dtype) {
        double[] values = {1, 0, 1, 1, 0};
        Tensor tensor = Tensor.of(dtype, values, 5);
        assertThat(tensor.toDoubles()).containsExactly(values);
        for (int i = 0; i < values.length; i++) {
            assertThat(tensor.getDouble(i)).isEqualTo(values[i]);
            assertThat(tensor.getLong(i)).isEqualTo((long) values[i]);
        }
        if (dtype.isFloat()) {
            assertThatThrownBy(tensor::toLongs)
                    .isInstanceOf(DTypeException.class)
                    .hasMessageContaining("use toDoubles");
        } else {
            assertThat(tensor.toLongs()).containsExactly(1, 0, 1, 1, 0);
        }
        if (dtype.isFloat() && dtype != DType.F64) {
            assertThat(tensor.toFloats()).containsExactly(1, 0, 1, 1, 0);
            assertThat(tensor.getFloat(2)).isEqualTo(1);
        } else {
            assertThatThrownBy(tensor::toFloats).isInstanceOf(DTypeException.class);
        }
        if (dtype.isFloat() || dtype.bits() > 32 || dtype == DType.U32) {
            assertThatThrownBy(tensor::toInts).isInstanceOf(DTypeException.class);
        } else {
            assertThat(tensor.toInts()).containsExactly(1, 0, 1, 1, 0);
        }
        assertThat(tensor.asByteBuffer().remaining()).isEqualTo((int) tensor.byteSize());
    }

    @Test
    void integersKeepTheirSignAndBits() {
        assertThat(Tensor.of(DType.I4, new long[] {-8, 7, -1}, 3).toInts()).containsExactly(-8, 7, -1);
        assertThat(Tensor.of(DType.U8, new long[] {255}, 1).getInt(0)).isEqualTo(255);
        assertThat(Tensor.of(DType.U32, new long[] {0xFFFFFFFFL}, 1).getLong(0)).isEqualTo(0xFFFFFFFFL);
        assertThat(Tensor.of(DType.I64, new long[] {Long.MIN_VALUE + 1}, 1).toLongs())
                .containsExactly(Long.MIN_VALUE + 1);
        assertThat(Tensor.of(new boolean[] {true, false}, 2).toBooleans()).containsExactly(true, false);
        assertThat(Tensor.of(new short[] {-3}, 1).getInt(0)).isEqualTo(-3);
    }

    @Test
    void buffersShowTheTensorsOwnMemory() {
        Tensor floats = Tensor.zeros(DType.F32, 2);
        floats.asFloatBuffer().put(1, 2.5f);
        assertThat(floats.toFloats()).containsExactly(0, 2.5f);
        Tensor longs = Tensor.zeros(DType.I64, 1);
        longs.asLongBuffer().put(0, 7);
        assertThat(longs.toLongs()).containsExactly(7);
        Tensor doubles = Tensor.of(new double[] {1.5}, 1);
        assertThat(doubles.asDoubleBuffer().get(0)).isEqualTo(1.5);
        assertThat(Tensor.of(new int[] {9}, 1).asIntBuffer().get(0)).isEqualTo(9);
        assertThat(Tensor.of(DType.F16, new double[] {1}, 1).asShortBuffer().get(0))
                .isEqualTo((short) 0x3C00);
        assertThatThrownBy(doubles::asFloatBuffer)
                .isInstanceOf(DTypeException.class)
                .hasMessage("the tensor is f64[1]; expected f32");
    }

    @Test
    void reshapeSharesMemory() {
        Tensor tensor = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3);
        Tensor reshaped = tensor.reshape(-1, 2);
        assertThat(reshaped.shape()).isEqualTo(Shape.of(3, 2));
        reshaped.asFloatBuffer().put(0, 9);
        assertThat(tensor.getFloat(tensor.index(0, 0))).isEqualTo(9);
        assertThat(tensor.getFloat(tensor.index(-1, -1))).isEqualTo(6);
        assertThatThrownBy(() -> tensor.reshape(4, 2)).isInstanceOf(ShapeException.class);
    }

    @Test
    void equalityIsOfTypeAndBits() {
        Tensor tensor = Tensor.of(new float[] {1, Float.NaN}, 2);
        assertThat(tensor)
                .isEqualTo(Tensor.of(new float[] {1, Float.NaN}, 2))
                .hasSameHashCodeAs(Tensor.of(new float[] {1, Float.NaN}, 2))
                .isNotEqualTo(Tensor.of(new float[] {1, Float.NaN}, 2, 1))
                .isNotEqualTo(Tensor.of(new float[] {1, 2}, 2));
        assertThat(Tensor.of(new float[] {0f}, 1)).isNotEqualTo(Tensor.of(new float[] {-0f}, 1));
        Tensor packed = Tensor.of(DType.I4, new long[] {1, 2, 3}, 3);
        Tensor padded = Tensor.of(DType.I4, new long[] {1, 2, 3}, 3);
        padded.asByteBuffer().put(1, (byte) 0x73); // the upper half belongs to no element
        assertThat(packed).isEqualTo(padded);
    }

    @Test
    void textHasTypeAndFirstElements() {
        assertThat(Tensor.of(new float[] {1, 2.5f}, 1, 2)).hasToString("f32[1,2] {1.0, 2.5}");
        assertThat(Tensor.of(new boolean[] {true}, 1)).hasToString("bool[1] {true}");
        assertThat(Tensor.of(DType.U64, new long[] {-1}, 1)).hasToString("u64[1] {18446744073709551615}");
        assertThat(Tensor.zeros(DType.I32, 9)).hasToString("i32[9] {0, 0, 0, 0, 0, 0, 0, 0, …}");
    }

    @Test
    void typesWithoutNumbersAreRefused() {
        TensorType named = new TensorType(DType.F32, Shape.of(Dim.named("n")));
        assertThatThrownBy(() -> Tensor.zeros(named))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("f32[n]: the shape is not concrete");
    }
}
