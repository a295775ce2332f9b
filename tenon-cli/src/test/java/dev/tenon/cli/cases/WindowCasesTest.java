package dev.tenon.cli.cases;

import static dev.tenon.cli.cases.Cpu.f32;
import static dev.tenon.cli.cases.Cpu.sizes;

import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class WindowCasesTest {
    private static Conv conv(List<Long> before, List<Long> after, long groups) {
        List<Long> ones = java.util.Collections.nCopies(before.size(), 1L);
        return new Conv(ones, before, after, ones, groups, Epilogue.NONE);
    }

    private static double[] doubles(String list) {
        return Arrays.stream(list.split(",")).mapToDouble(Double::parseDouble).toArray();
    }

    @ParameterizedTest
    @CsvSource({"'1,1,1',0,1,'6,9,7'", "'1,1,1',1,0,'3,6,9'", "'1,10',0,1,'21,32,43,4'", "'1,10',1,0,'10,21,32,43'"})
    @DisplayName("CV-01 padding on one side, in one dim and in two")
    void asymmetricPadding(String kernel, long before, long after, String expected) {
        double[] w = doubles(kernel);
        double[] y = doubles(expected);
        Cpu.check(
                conv(List.of(before), List.of(after), 1),
                List.of(f32(sizes(1, 1, 4), 1, 2, 3, 4), f32(sizes(1, 1, w.length), w)),
                found -> Cpu.exactly(found, sizes(1, 1, y.length), y));
        Cpu.check(
                conv(List.of(0L, before), List.of(0L, after), 1),
                List.of(f32(sizes(1, 1, 1, 4), 1, 2, 3, 4), f32(sizes(1, 1, 1, w.length), w)),
                found -> Cpu.exactly(found, sizes(1, 1, 1, y.length), y));
        Cpu.check(
                conv(List.of(before, 0L), List.of(after, 0L), 1),
                List.of(f32(sizes(1, 1, 4, 1), 1, 2, 3, 4), f32(sizes(1, 1, w.length, 1), w)),
                found -> Cpu.exactly(found, sizes(1, 1, y.length, 1), y));
    }

    @ParameterizedTest
    @CsvSource({"SAME_UPPER,'21,32,43,4'", "SAME_LOWER,'10,21,32,43'"})
    @DisplayName("CV-01 auto_pad puts the odd pad where it says")
    void autoPad(String autoPad, String expected) {
        for (long[] shape : List.of(sizes(1, 1, 4), sizes(1, 1, 1, 4), sizes(1, 1, 4, 1))) {
            long[] kernel = shape.clone();
            for (int i = 0; i < kernel.length; i++) {
                kernel[i] = kernel[i] == 4 ? 2 : 1;
            }
            byte[] bytes = Onnx.model(
                    17,
                    graph -> graph.input("x", Onnx.FLOAT, shape)
                            .input("w", Onnx.FLOAT, kernel)
                            .output("y", Onnx.FLOAT)
                            .node("Conv", "x w", "y", node -> node.text("auto_pad", autoPad)));
            Tensor y = Cpu.only(
                    OnnxModel.parse("conv", bytes).graph(),
                    Map.of("x", f32(shape, 1, 2, 3, 4), "w", f32(kernel, 1, 10)));
            Cpu.exactly(y, shape, doubles(expected));
        }
    }

    @Test
    @DisplayName("CV-02 groups read their own channels")
    void groups() {
        double[] ones = new double[32];
        Arrays.fill(ones, 1);
        double[] expected = new double[16];
        Arrays.fill(expected, 8, 16, 1);
        Cpu.check(
                conv(List.of(0L, 0L), List.of(0L, 0L), 2),
                List.of(f32(sizes(1, 4, 1, 1), 0, 0, 0, 1), f32(sizes(16, 2, 1, 1), ones)),
                y -> Cpu.exactly(y, sizes(1, 16, 1, 1), expected));
    }

    @Test
    @DisplayName("CV-02 a kernel of 128")
    void longKernel() {
        double[] x = new double[4 * 128];
        Arrays.setAll(x, i -> i / 128 + 1);
        double[] w = new double[4 * 2 * 128];
        Arrays.fill(w, 1);
        Cpu.check(
                conv(List.of(0L), List.of(0L), 2),
                List.of(f32(sizes(1, 4, 128), x), f32(sizes(4, 2, 128), w)),
                y -> Cpu.exactly(y, sizes(1, 4, 1), 384, 384, 896, 896));
    }

    @Test
    @DisplayName("PL-01 the average divides by the cells that are there")
    void averagePool() {
        double[] numbers = new double[16];
        Arrays.setAll(numbers, i -> i + 1);
        Tensor x = f32(sizes(1, 1, 4, 4), numbers);
        double[] included = {14 / 9.0, 10 / 3.0, 2, 19 / 3.0, 11, 6, 4.5, 7.5, 4};
        double[] excluded = {3.5, 5, 6, 9.5, 11, 12, 13.5, 15, 16};
        Cpu.check(average(true), List.of(x), y -> Cpu.close(y, included));
        Cpu.check(average(false), List.of(x), y -> Cpu.close(y, excluded));
        Cpu.close(Onnx.run("avgpool_ceil", x), included);
    }

    private static Pool average(boolean countPadding) {
        List<Long> ones = List.of(1L, 1L);
        return new Pool(PoolFn.AVERAGE, List.of(3L, 3L), List.of(2L, 2L), ones, ones, ones, true, countPadding, 0);
    }
}
