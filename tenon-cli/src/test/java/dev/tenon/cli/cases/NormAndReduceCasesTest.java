package dev.tenon.cli.cases;

import static dev.tenon.cli.cases.Cpu.f32;
import static dev.tenon.cli.cases.Cpu.sizes;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.tensor.Tensor;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class NormAndReduceCasesTest {
    @Test
    @DisplayName("LN-01 a large mean does not cancel")
    void largeMean() {
        layerNorm(
                f32(sizes(1, 4), 40000, 40001, 40002, 40003),
                0,
                y -> Cpu.within(y, 0, 1e-4, -1.3416354, -0.4472118, 0.4472118, 1.3416354));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.25})
    @DisplayName("LN-01 a constant row gives the bias, exactly")
    void constantRow(double bias) {
        Tensor x = Cpu.filled(TensorType.of(DType.F32, 1, 256), 1234);
        double[] expected = new double[256];
        java.util.Arrays.fill(expected, bias);
        layerNorm(x, bias, y -> Cpu.within(y, 0, 0, expected));
    }

    private static void layerNorm(Tensor x, double bias, java.util.function.Consumer<Tensor> expectation) {
        long width = x.shape().size(1);
        Cpu.check(
                (g, in) -> List.of(g.layerNorm(in.get(0), in.get(1), in.get(2), 1e-5)),
                List.of(
                        x,
                        Cpu.filled(TensorType.of(DType.F32, width), 1),
                        Cpu.filled(TensorType.of(DType.F32, width), bias)),
                y -> expectation.accept(y.getFirst()));
    }

    private static Cpu.Body reduce(ReduceFn fn, boolean keepDims, int... axes) {
        return (g, x) -> List.of(g.reduce(fn, x.getFirst(), keepDims, axes));
    }

    @ParameterizedTest
    @CsvSource({"SUM,0", "PROD,1", "MEAN,NaN"})
    @DisplayName("RE-01 an empty axis reduces to the identity")
    void emptyAxis(ReduceFn fn, double identity) {
        double[] expected = new double[12];
        java.util.Arrays.fill(expected, identity);
        Cpu.check(
                reduce(fn, true, 2),
                List.of(Tensor.zeros(DType.F32, 2, 2, 0, 3)),
                y -> Cpu.exactly(y.getFirst(), sizes(2, 2, 1, 3), expected));
    }

    @Test
    @DisplayName("RE-01 the maximum of nothing is an error, unless nothing is asked for")
    void emptyMaximum() {
        Cpu.fails(
                reduce(ReduceFn.MAX, true, 2),
                List.of(Tensor.zeros(DType.F32, 2, 2, 0, 3)),
                TenonException.class,
                "max",
                "empty");
        Tensor empty = Tensor.zeros(DType.F32, 0, 4);
        Cpu.check(reduce(ReduceFn.MAX, false, 1), List.of(empty), y -> Cpu.exactly(y.getFirst(), sizes(0)));
        Cpu.check(reduce(ReduceFn.SUM, false, 0), List.of(empty), y -> Cpu.exactly(y.getFirst(), sizes(4), 0, 0, 0, 0));
    }

    @Test
    @DisplayName("RE-01 axes of size 1, from the back, named twice, out of range")
    void axes() {
        Cpu.check(
                reduce(ReduceFn.MAX, false, 0),
                List.of(f32(sizes(1, 2), 7, 9)),
                y -> Cpu.exactly(y.getFirst(), sizes(2), 7, 9));
        double[] numbers = new double[24];
        java.util.Arrays.setAll(numbers, i -> i);
        Tensor x = f32(sizes(2, 3, 4), numbers);
        Cpu.check(
                reduce(ReduceFn.SUM, false, -1, 0),
                List.of(x),
                y -> Cpu.exactly(y.getFirst(), sizes(3), 0 + 1 + 2 + 3 + 12 + 13 + 14 + 15, 92, 124));
        assertThatThrownBy(() -> Cpu.run(reduce(ReduceFn.SUM, false, 1, -2), x)).isInstanceOf(ShapeException.class);
        assertThatThrownBy(() -> Cpu.run(reduce(ReduceFn.SUM, false, 3), x)).isInstanceOf(ShapeException.class);
    }

    @Test
    @DisplayName("RE-02 column sums of more than 2^24 ones")
    void longColumns() {
        long n = (1 << 24) + 2;
        Tensor ones = Tensor.zeros(DType.F32, n, 2);
        for (long i = 0; i < 2 * n; i++) {
            ones.segment().set(java.lang.foreign.ValueLayout.JAVA_FLOAT, 4 * i, 1);
        }
        List<Tensor> y = Cpu.run(
                (g, in) -> {
                    var x = in.getFirst();
                    var turned = g.transpose(x, 1, 0);
                    return List.of(
                            g.reduce(ReduceFn.SUM, x, false, 0),
                            g.reduce(ReduceFn.MEAN, x, false, 0),
                            g.reduce(ReduceFn.SUM, x, false, 0, 1),
                            g.reduce(ReduceFn.SUM, turned, false, 1),
                            g.reduce(ReduceFn.MEAN, turned, false, 1));
                },
                ones);
        Cpu.exactly(y.get(0), sizes(2), 16777218, 16777218);
        Cpu.exactly(y.get(1), sizes(2), 1, 1);
        Cpu.exactly(y.get(2), sizes(), 33554436);
        Cpu.exactly(y.get(3), sizes(2), 16777218, 16777218);
        Cpu.exactly(y.get(4), sizes(2), 1, 1);
    }
}
