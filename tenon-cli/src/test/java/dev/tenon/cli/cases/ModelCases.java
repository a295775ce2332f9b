package dev.tenon.cli.cases;

import static dev.tenon.cli.cases.Cpu.f32;
import static dev.tenon.cli.cases.Cpu.sizes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.npy.Npy;
import dev.tenon.formats.npy.NpyArray;
import dev.tenon.formats.onnx.OnnxModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Cases that every executor runs alike: models of public reports, pools, replaced defaults, and sizes of hostile files.
 */
final class ModelCases {
    /**
     * One case.
     *
     * @param name begins with the id of the case
     */
    record ModelCase(String name, Consumer<Executor> check) {
        @Override
        public String toString() {
            return name;
        }
    }

    private final List<ModelCase> cases = new ArrayList<>();

    private ModelCases() {}

    static List<ModelCase> all() {
        ModelCases all = new ModelCases();
        all.reports();
        all.norms();
        all.clips();
        all.pools();
        all.defaults();
        all.hostile();
        return List.copyOf(all.cases);
    }

    private void add(String name, Consumer<Executor> check) {
        cases.add(new ModelCase(name, check));
    }

    private static OnnxModel report(String name) {
        return OnnxModel.load(Onnx.file("reports/" + name + "/model"));
    }

    private static Tensor input(String report, String name) {
        Path file = Onnx.file("reports/" + report + "/model").resolveSibling("in_" + name + ".npy");
        NpyArray array = Npy.read(file);
        return Tensor.wrap(array.type(), array.data());
    }

    private static Map<String, Tensor> run(Executor executor, String report, String... inputs) {
        Map<String, Tensor> given = new java.util.LinkedHashMap<>();
        for (String name : inputs) {
            given.put(name, input(report, name));
        }
        return executor.run(report(report).graph(), given);
    }

    private static Tensor result(Map<String, Tensor> results, String name) {
        return Objects.requireNonNull(results.get(name), name);
    }

    private static void fails(Runnable run, String... words) {
        assertThatThrownBy(run::run)
                .isInstanceOf(TenonException.class)
                .hasMessageContainingAll(words)
                .message()
                .doesNotContain("\n");
    }

    private void reports() {
        add("RP-01 a condition of shape [1,1] chooses the branch", executor -> {
            Tensor x = input("if-cond-shape-1x1", "x");
            Tensor y = result(run(executor, "if-cond-shape-1x1", "x", "c"), "y");
            Cpu.exactly(y, sizes(3), -x.getDouble(0), -x.getDouble(1), -x.getDouble(2));
        });
        add("RP-04 a loop of no turns keeps the sizes of its scans", executor -> {
            Map<String, Tensor> results = run(executor, "loop-zero-turns", "M", "c", "n0", "x");
            assertThat(result(results, "n").getLong(0)).isEqualTo(7);
            assertThat(result(results, "scan").shape().sizes()).containsExactly(0, 2);
        });
        add("RP-05 a crop on one side precedes the wrap on the other", executor -> {
            Tensor y = result(run(executor, "pad-negative-wrap", "x"), "y");
            Cpu.exactly(y, sizes(6), 3, 4, 1, 2, 3, 4);
        });
        add(
                "RP-03 constant bounds of three elements are refused",
                executor -> fails(() -> run(executor, "clip-vector-max-const", "x"), "Clip", "max", "[3]"));
        add(
                "RP-03 given bounds of three elements are refused",
                executor -> fails(() -> run(executor, "clip-vector-min-dyn", "x", "lo"), "Clip", "min", "[3]"));
    }

    /** Rows of x normalised in float64, times the scale and plus the bias at {@code index % their length}. */
    private static double[] normalised(double[] x, int width, double epsilon, double[] scale, double[] bias) {
        double[] y = new double[x.length];
        for (int row = 0; row < x.length; row += width) {
            double mean = 0;
            for (int i = row; i < row + width; i++) {
                mean += x[i] / width;
            }
            double variance = 0;
            for (int i = row; i < row + width; i++) {
                variance += (x[i] - mean) * (x[i] - mean) / width;
            }
            for (int i = row; i < row + width; i++) {
                y[i] = (x[i] - mean) / Math.sqrt(variance + epsilon) * scale[i % scale.length]
                        + (bias.length == 0 ? 0 : bias[i % bias.length]);
            }
        }
        return y;
    }

    private static double[] counted(int length, double from, double step) {
        double[] values = new double[length];
        java.util.Arrays.setAll(values, i -> from + step * ((i * 7) % 11));
        return values;
    }

    private void norms() {
        add("RP-02 a scale of shape [1,H] is one of shape [H]", executor -> {
            double[] x = input("ln-scale-1H", "x").toDoubles();
            double[] scale = {
                -0.0254225172,
                0.375053078,
                -0.604415894,
                0.202022567,
                -0.473231941,
                1.06494665,
                0.124325663,
                -1.40252423
            };
            Cpu.within(
                    result(run(executor, "ln-scale-1H", "x"), "y"),
                    1e-5,
                    1e-5,
                    normalised(x, 8, 1e-5f, scale, new double[0]));
        });
        add("RP-02 scale and bias of shape [1,1,H] behind a sum", executor -> {
            double[] x = input("skip-ln-gamma-11H", "x").toDoubles();
            double[] s = input("skip-ln-gamma-11H", "s").toDoubles();
            java.util.Arrays.setAll(x, i -> x[i] + s[i]);
            double[] scale = {
                -0.0776150599,
                -0.791376829,
                -0.565992296,
                -0.636046767,
                -2.79235721,
                1.01684618,
                0.566477597,
                -0.214270592
            };
            double[] bias = {
                1.04598379, 0.437987775, 0.371567488, -2.47476363, -0.233015925, 0.532189131, 1.60968685, 1.84029484
            };
            Cpu.within(
                    result(run(executor, "skip-ln-gamma-11H", "x", "s"), "y"),
                    1e-5,
                    1e-5,
                    normalised(x, 8, 1e-5f, scale, bias));
        });
        for (long[] shape : List.of(sizes(5, 8), sizes(1, 5, 8))) {
            add("RP-02 a scale and a bias of rank " + shape.length + " with a row for each position", executor -> {
                Tensor x = f32(sizes(2, 5, 8), counted(80, -1.5, 0.375));
                Tensor scale = f32(shape, counted(40, -2, 0.5));
                Tensor bias = f32(shape, counted(40, 1, -0.25));
                OnnxModel layer = model(
                        "LayerNormalization",
                        "x s b",
                        g -> g.input("x", Onnx.FLOAT, 2, 5, 8)
                                .input("s", Onnx.FLOAT, shape)
                                .input("b", Onnx.FLOAT, shape));
                double[] expected = normalised(x.toDoubles(), 8, 1e-5f, scale.toDoubles(), bias.toDoubles());
                Map<String, Tensor> given = Map.of("x", x, "s", scale, "b", bias);
                Tensor y = result(executor.run(layer.graph(), given), "y");
                Cpu.within(y, 1e-5, 1e-5, expected);
                assertThat(y.shape().sizes()).containsExactly(2, 5, 8);
                OnnxModel rms = model(
                        "RMSNormalization",
                        "x s",
                        g -> g.input("x", Onnx.FLOAT, 2, 5, 8).input("s", Onnx.FLOAT, shape));
                Tensor z = result(executor.run(rms.graph(), Map.of("x", x, "s", scale)), "y");
                Cpu.within(z, 1e-5, 1e-5, rms(x.toDoubles(), scale.toDoubles()));
            });
        }
        add(
                "RP-02 a scale that would widen x is refused",
                executor -> fails(
                        () -> {
                            OnnxModel wide = model(
                                    "LayerNormalization",
                                    "x s",
                                    g -> g.input("x", Onnx.FLOAT, 1, 8).input("s", Onnx.FLOAT, 5, 8));
                            executor.run(wide.graph(), Map.of());
                        },
                        "LayerNormalization",
                        "[5,8]",
                        "[1,8]"));
    }

    private static double[] rms(double[] x, double[] scale) {
        double[] y = new double[x.length];
        for (int row = 0; row < x.length; row += 8) {
            double square = 0;
            for (int i = row; i < row + 8; i++) {
                square += x[i] * x[i] / 8;
            }
            for (int i = row; i < row + 8; i++) {
                y[i] = x[i] / Math.sqrt(square + 1e-5f) * scale[i % scale.length];
            }
        }
        return y;
    }

    private static OnnxModel model(String op, String inputs, java.util.function.UnaryOperator<Onnx> ports) {
        byte[] bytes = Onnx.model(
                op.startsWith("RMS") ? 23 : 17,
                g -> ports.apply(g).output("y", Onnx.FLOAT).node(op, inputs, "y", n -> n));
        return OnnxModel.parse(op, bytes);
    }

    private void clips() {
        for (long[] bound : List.of(sizes(), sizes(1), sizes(1, 1))) {
            add("RP-03 bounds of shape " + java.util.Arrays.toString(bound) + " keep the shape of x", executor -> {
                for (long[] shape : List.of(sizes(), sizes(3))) {
                    OnnxModel clip = model(
                            "Clip",
                            "x lo hi",
                            g -> g.input("x", Onnx.FLOAT, shape)
                                    .input("lo", Onnx.FLOAT, bound)
                                    .input("hi", Onnx.FLOAT, bound));
                    Tensor x = shape.length == 0 ? f32(shape, 5) : f32(-3, 0.5, 9);
                    Map<String, Tensor> given = Map.of("x", x, "lo", f32(bound, -1), "hi", f32(bound, 2));
                    double[] expected = shape.length == 0 ? new double[] {2} : new double[] {-1, 0.5, 2};
                    Cpu.exactly(result(executor.run(clip.graph(), given), "y"), shape, expected);
                }
            });
        }
    }

    private static Graph maxPool(long length, long kernel, long stride, long pad, boolean ceil) {
        return GraphBuilder.build("pool", g -> {
            List<Long> one = List.of(1L);
            Pool op = new Pool(
                    PoolFn.MAX, List.of(kernel), List.of(stride), List.of(pad), List.of(pad), one, ceil, false, 0);
            g.output("y", g.add(op, g.input("x", DType.F32, Dim.of(1), Dim.of(1), Dim.of(length))));
        });
    }

    private void pool(String name, Graph graph, double[] x, double... expected) {
        add(name, executor -> {
            Tensor y = result(executor.run(graph, Map.of("x", f32(sizes(1, 1, x.length), x))), "y");
            Cpu.exactly(y, sizes(1, 1, expected.length), expected);
        });
    }

    private void pools() {
        double lowest = Double.NEGATIVE_INFINITY;
        double[] negative = {-5, -3, -4};
        pool("PL-02 (a) padding is no 0", maxPool(3, 3, 1, 1, false), negative, -3, -3, -3);
        double[] nan = {1, Double.NaN, 2, 3};
        pool("PL-02 (b) NaN stays", maxPool(4, 2, 2, 0, false), nan, Double.NaN, 3);
        double[] infinite = {lowest, lowest, lowest, lowest};
        pool("PL-02 (c) -inf stays", maxPool(4, 2, 2, 0, false), infinite, lowest, lowest);
        double[] five = {1, 2, 3, 4, 5};
        pool("PL-02 (d) a window past the padding is dropped", maxPool(5, 2, 3, 1, true), five, 1, 4);
        add(
                "PL-02 (e) a window of padding alone is refused",
                executor -> fails(
                        () -> executor.run(maxPool(4, 2, 2, 2, false), Map.of("x", f32(sizes(1, 1, 4), 1, 2, 3, 4))),
                        "pool",
                        "padding alone",
                        "[1,1,4]"));
        add(
                "PL-02 (e) an imported window of padding alone is refused",
                executor -> fails(
                        () -> {
                            byte[] bytes = Onnx.model(
                                    17,
                                    g -> g.input("x", Onnx.FLOAT, 1, 1, 4)
                                            .output("y", Onnx.FLOAT)
                                            .node(
                                                    "MaxPool",
                                                    "x",
                                                    "y",
                                                    n -> n.integers("kernel_shape", 2)
                                                            .integers("pads", 2, 2)));
                            executor.run(OnnxModel.parse("pool", bytes).graph(), Map.of());
                        },
                        "MaxPool",
                        "padding alone"));
    }

    private void defaults() {
        Tensor x = f32(1, 2);
        Tensor w = f32(sizes(1), 10);
        for (String version : List.of("ir3", "ir8")) {
            add("OX-05 an initializer that is an input too needs no value, " + version, executor -> {
                OnnxModel model = OnnxModel.load(Onnx.file("init_input_" + version));
                assertThat(model.inputs()).hasSize(1);
                Cpu.exactly(result(executor.run(model.graph(), Map.of("x", x)), output(model)), sizes(2), 10, 11);
            });
        }
        add("OX-05 a run replaces a default from IR version 4 on", executor -> {
            OnnxModel model = OnnxModel.load(Onnx.file("init_input_ir8"));
            assertThat(model.defaults()).extracting(OnnxModel.Port::name).containsExactly("w");
            Map<String, Tensor> both = Map.of("x", x, "w", given(model, w));
            Cpu.exactly(result(executor.run(model.graph(), both), output(model)), sizes(2), 101, 102);
        });
        add("OX-05 a constant of IR version 3 cannot be given", executor -> {
            OnnxModel model = OnnxModel.load(Onnx.file("init_input_ir3"));
            assertThat(model.defaults()).isEmpty();
            assertThatThrownBy(() -> executor.run(model.graph(), Map.of("x", x, "w", w)))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("w");
        });
    }

    private static Tensor given(OnnxModel model, Tensor value) {
        return Tensor.wrap(
                new dev.tenon.core.ir.TensorType(
                        value.dtype(), model.defaults().getFirst().type().shape()),
                value.segment());
    }

    private static String output(OnnxModel model) {
        return model.outputs().getFirst().name();
    }

    private void hostile(String name, String description, String... words) {
        add(
                "hostile/" + name + ": " + description,
                executor -> fails(
                        () -> {
                            OnnxModel model = OnnxModel.load(Onnx.file("hostile/" + name));
                            Map<String, Tensor> given = new java.util.LinkedHashMap<>();
                            model.inputs().forEach(port -> given.put(port.name(), Tensor.zeros(port.type())));
                            executor.run(model.graph(), given);
                        },
                        words));
    }

    private void hostile() {
        hostile("conv_stride", "a stride of 2^40 is refused", "Conv", "strides", "1099511627776");
        hostile("pool_stride", "a stride of 2^40 is refused", "MaxPool", "strides", "1099511627776");
        hostile("pool_dil", "a dilation of 2^40 is refused", "MaxPool", "dilations", "1099511627776");
        hostile("nonzero_ovf", "more than 2^63 indices are refused", "NonZero");
        hostile("cos_2p62", "a value of 2^51 bytes is refused", "Add");
        hostile("loop_scanout", "a scan of 2^40 turns is refused before the first", "1099511627776");
    }
}
