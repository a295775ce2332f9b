package dev.tenon.cli.cases;

import dev.tenon.core.build.Ops;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.normalisation.GroupNorm;
import dev.tenon.core.ir.op.normalisation.InstanceNorm;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * LN-02: norms of numbers near 10000 that differ by thousandths, wherever a variance is taken. Their mean is no number
 * of f32, and half a unit of it is 7 % of what the outermost ones deviate.
 */
final class LargeMeanCasesTest {
    private static final double EPSILON = 1e-5;
    private static final String NAMES = "x scale bias mean variance";

    /** Large numbers whose neighbours are {@code step} apart in their type; i from 0 to 15, again and again. */
    private static Tensor large(DType dtype, long... sizes) {
        double base = dtype == DType.F64 ? 0x1p43 : dtype == DType.BF16 ? 9984 : 10_000;
        Tensor x = Tensor.zeros(dtype, sizes);
        double[] values = new double[Math.toIntExact(x.elements())];
        Arrays.setAll(values, i -> base + i % 16 * step(dtype));
        return Tensor.of(dtype, values, sizes);
    }

    private static double step(DType dtype) {
        return switch (dtype) {
            case F64 -> 0x1p-9;
            case F32 -> 0x1p-10;
            case F16 -> 8;
            default -> 64;
        };
    }

    private static double[] expected(int n, double step, double epsilon) {
        double[] y = new double[n];
        Arrays.setAll(y, i -> (i % 16 - 7.5) * step / Math.sqrt(21.25 * step * step + epsilon));
        return y;
    }

    private static void close(Tensor y, DType dtype) {
        double within = dtype == DType.F16 ? 0x1p-10 : dtype == DType.BF16 ? 0x1p-7 : 1e-5;
        Cpu.within(y, within, 0, expected(Math.toIntExact(y.elements()), step(dtype), EPSILON));
    }

    @ParameterizedTest
    @CsvSource({"F32, 16", "F32, 48", "F32, 5008", "F64, 16", "F64, 5008", "F16, 16", "F16, 5008", "BF16, 16"})
    @DisplayName("LN-02 layer_norm")
    void layerNorm(DType dtype, long width) {
        List<Tensor> inputs =
                List.of(large(dtype, 3, width), Cpu.filled(type(dtype, width), 1), Cpu.filled(type(dtype, width), 0));
        Cpu.check(
                (g, x) -> List.of(g.layerNorm(x.get(0), x.get(1), x.get(2), EPSILON)),
                inputs,
                y -> close(y.getFirst(), dtype));
    }

    @Test
    @DisplayName("LN-02 layer_norm beside rows of 0 and of i")
    void layerNormOfMixedRows() {
        double[] values = new double[48];
        Arrays.setAll(values, i -> i < 16 ? 0 : i < 32 ? i - 16 : 10_000 + (i - 32) * 0x1p-10);
        double[] wanted = new double[48];
        System.arraycopy(expected(16, 1, EPSILON), 0, wanted, 16, 16);
        System.arraycopy(expected(16, 0x1p-10, EPSILON), 0, wanted, 32, 16);
        Cpu.check(
                (g, x) -> List.of(g.layerNorm(x.get(0), x.get(1), x.get(2), EPSILON)),
                List.of(
                        Tensor.of(DType.F32, values, 3, 16),
                        Cpu.filled(type(DType.F32, 16), 1),
                        Tensor.zeros(DType.F32, 16)),
                y -> Cpu.within(y.getFirst(), 1e-5, 0, wanted));
    }

    @Test
    @DisplayName("LN-02 group_norm and instance_norm")
    void groupsAndInstances() {
        Tensor one = Cpu.filled(type(DType.F32, 2), 1);
        Tensor zero = Tensor.zeros(DType.F32, 2);
        Cpu.check(new InstanceNorm(EPSILON), List.of(large(DType.F32, 3, 2, 16), one, zero), y -> close(y, DType.F32));
        Cpu.check(new GroupNorm(1, EPSILON), List.of(large(DType.F32, 3, 2, 8), one, zero), y -> close(y, DType.F32));
        Cpu.check(new GroupNorm(2, EPSILON), List.of(large(DType.F32, 3, 2, 16), one, zero), y -> close(y, DType.F32));
    }

    @Test
    @DisplayName("LN-02 a spelled layer_norm is run as one")
    void spelled() {
        Tensor y = Cpu.run(
                        (g, x) -> List.of(g.add(g.mul(standard(g, x.get(0)), x.get(1)), x.get(2))),
                        large(DType.F32, 3, 16),
                        Cpu.filled(type(DType.F32, 16), 1),
                        Tensor.zeros(DType.F32, 16))
                .getFirst();
        close(y, DType.F32);
    }

    private static Value standard(Ops g, Value x) {
        Value centred = g.sub(x, g.reduce(ReduceFn.MEAN, x, true, 1));
        Value variance = g.reduce(ReduceFn.MEAN, g.mul(centred, centred), true, 1);
        return g.div(centred, g.unary(UnaryFn.SQRT, g.add(variance, g.scalar(DType.F32, EPSILON))));
    }

    @Test
    @DisplayName("LN-02 the operators of ONNX")
    void onnx() {
        Tensor one = Cpu.filled(type(DType.F32, 1), 1);
        Tensor zero = Tensor.zeros(DType.F32, 1);
        Tensor image = large(DType.F32, 1, 1, 4, 4);
        close(onnx("InstanceNormalization", 13, "y", "", image, one, zero).getFirst(), DType.F32);
        close(
                onnx("GroupNormalization", 21, "y", "num_groups", image, one, zero)
                        .getFirst(),
                DType.F32);
        close(
                onnx(
                                "BatchNormalization",
                                15,
                                "y running_mean running_variance",
                                "training_mode",
                                image,
                                one,
                                zero,
                                zero,
                                one)
                        .getFirst(),
                DType.F32);
        Cpu.within(onnx("MeanVarianceNormalization", 13, "y", "", image).getFirst(), 1e-5, 0, expected(16, 1, 0));
        List<Tensor> layer = onnx(
                "LayerNormalization",
                17,
                "y mean inverse",
                "",
                large(DType.F32, 1, 16),
                Cpu.filled(type(DType.F32, 16), 1),
                Tensor.zeros(DType.F32, 16));
        close(layer.get(0), DType.F32);
        Cpu.within(layer.get(2), 1e-5, 0, 1 / Math.sqrt(21.25 * 0x1p-20 + EPSILON));
    }

    /** A model of one node; {@code flag} is an attribute that is 1, or empty. The outputs in their order. */
    private static List<Tensor> onnx(String op, long opset, String outputs, String flag, Tensor... inputs) {
        String[] names = Arrays.copyOf(NAMES.split(" "), inputs.length);
        Map<String, Tensor> given = new TreeMap<>();
        byte[] bytes = Onnx.model(opset, graph -> {
            for (int i = 0; i < inputs.length; i++) {
                graph.input(names[i], Onnx.FLOAT, inputs[i].shape().sizes());
                given.put(names[i], inputs[i]);
            }
            for (String output : outputs.split(" ")) {
                graph.output(output, Onnx.FLOAT);
            }
            return graph.node(
                    op, String.join(" ", names), outputs, node -> flag.isEmpty() ? node : node.integer(flag, 1));
        });
        Map<String, Tensor> results = Cpu.run(OnnxModel.parse(op, bytes).graph(), given, 1, CompileOptions.defaults());
        List<Tensor> ordered = new ArrayList<>();
        for (String output : outputs.split(" ")) {
            ordered.add(results.get(output));
        }
        return ordered;
    }

    private static TensorType type(DType dtype, long... sizes) {
        return TensorType.of(dtype, sizes);
    }
}
