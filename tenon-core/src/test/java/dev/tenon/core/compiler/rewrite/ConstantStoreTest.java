package dev.tenon.core.compiler.rewrite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.testkit.Seeded;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ConstantStoreTest {
    @ParameterizedTest
    @EnumSource(names = {"F64", "F32", "F16", "BF16"})
    void channelsThatLieLastHaveTheElementsOfThoseThatDoNot(DType dtype) {
        NdArray weights = new Seeded(4).array(dtype, 3, 5, 2, 4);
        NdArray turned = NdArray.of(new ConstantStore().channelsLast(weights.toConstant()));
        assertThat(turned.type()).isEqualTo(TensorType.of(dtype, 3, 2, 4, 5));
        for (int row = 0; row < 3; row++) {
            for (int channel = 0; channel < 5; channel++) {
                for (int cell = 0; cell < 8; cell++) {
                    assertThat(turned.get((row * 8 + cell) * 5 + channel))
                            .isEqualTo(weights.get((row * 5 + channel) * 8 + cell));
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"6, 1, 1", "1, 3, 2"})
    void channelsWhoseOrderIsTheSameStayWhereTheyAre(long channels, long height, long width) {
        ConstantData.Dense weights = (ConstantData.Dense)
                new Seeded(4).array(DType.F32, 4, channels, height, width).toConstant();
        ConstantData.Dense turned = (ConstantData.Dense) new ConstantStore().channelsLast(weights);
        assertThat(turned.type().shape()).isEqualTo(Shape.of(4, height, width, channels));
        assertThat(turned.segment().address()).isEqualTo(weights.segment().address());
    }

    @ParameterizedTest
    @CsvSource({"F32, 1", "F32, 63", "F32, 64", "F32, 65", "F32, 9001", "F16, 20011", "I64, 5003", "I8, 77"})
    void elementsOfASplatAreAllAlike(DType dtype, long count) {
        ConstantData.Splat splat = new ConstantData.Splat(TensorType.of(dtype, count), 3);
        MemorySegment all = splat.materialise();
        assertThat(all.byteSize()).isEqualTo(dtype.bytesFor(count));
        int bytes = dtype.bytes();
        for (long i = 0; i < all.byteSize(); i++) {
            assertThat(all.get(ValueLayout.JAVA_BYTE, i)).isEqualTo((byte) (i % bytes == 0 ? 3 : 0));
        }
    }
}
