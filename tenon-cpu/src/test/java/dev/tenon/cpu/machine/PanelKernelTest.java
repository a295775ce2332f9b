package dev.tenon.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PanelKernelTest {
    private final MemorySegment arguments = MachineCode.arguments();

    static Iterable<Integer> widths() {
        return MachineCode.widths();
    }

    @ParameterizedTest
    @MethodSource("widths")
    void elementOfARowIsInTheRowOfThePanel(int lanes) {
        PanelKernel kernel = PanelKernel.make(lanes);
        int columns = kernel.columns();
        for (int k = 0; k <= 36; k += 4) {
            long stride = k + 5L;
            MemorySegment rows = MachineCode.random(columns * stride, new Random(k));
            MemorySegment panel = MachineCode.poisoned((long) k * columns + 2);
            kernel.run(k, new Matrix(rows, 8, 4 * stride), new Place(panel, 4), arguments);
            for (int column = 0; column < columns; column++) {
                for (int i = 0; i < k; i++) {
                    assertThat(MachineCode.get(panel, 1 + (long) i * columns + column))
                            .isEqualTo(MachineCode.get(rows, 2 + column * stride + i));
                }
            }
            assertThat(MachineCode.get(panel, 0)).isEqualTo(MachineCode.POISON);
            assertThat(MachineCode.get(panel, (long) k * columns + 1)).isEqualTo(MachineCode.POISON);
        }
    }

    @ParameterizedTest
    @MethodSource("widths")
    void refusesWhatDoesNotFit(int lanes) {
        PanelKernel kernel = PanelKernel.make(lanes);
        long floats = 4L * kernel.columns();
        Matrix rows = new Matrix(MachineCode.poisoned(floats), 0, 16);
        Place panel = new Place(MachineCode.poisoned(floats), 0);
        Place fixed = new Place(panel.memory().asReadOnly(), 0);
        assertThatThrownBy(() -> kernel.run(4, rows, panel.plus(4), arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernel.run(4, rows.plus(4), panel, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernel.run(3, rows, panel, arguments)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> kernel.run(4, rows, fixed, arguments)).isInstanceOf(IllegalArgumentException.class);
    }
}
