package dev.tenon.cuda.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.TensorType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sizes about the blocks, elements of several widths, memory that starts anywhere. */
class TransposedMatrixTest {
    @ParameterizedTest
    @CsvSource({"F32,0,3", "F32,1,1", "F32,31,33", "F32,64,32", "F32,65,97", "F16,33,31", "F64,33,5", "U8,7,40"})
    void everyElementChangesPlaces(DType dtype, int rows, int columns) {
        TensorType type = TensorType.of(dtype, rows, columns);
        MemorySegment data = Arena.ofAuto().allocate(type.bytes() + 1).asSlice(1);
        for (int i = 0; i < rows * columns; i++) {
            Elements.setDouble(dtype, data, i, i % 251 + 1);
        }
        MemorySegment turned = TransposedMatrix.of(new ConstantData.Dense(type, data));
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                int from = row * columns + column;
                assertThat(Elements.getDouble(dtype, turned, (long) column * rows + row))
                        .isEqualTo(from % 251 + 1);
            }
        }
    }

    @Test
    void onlyMatricesCanBeTurned() {
        TensorType type = TensorType.of(DType.F32, 2, 2, 2);
        ConstantData.Dense cube = new ConstantData.Dense(type, Arena.ofAuto().allocate(type.bytes()));
        assertThatThrownBy(() -> TransposedMatrix.of(cube))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("f32[2,2,2]");
    }
}
