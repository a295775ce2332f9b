package dev.tenon.cli.cases;

import static dev.tenon.cli.cases.Cpu.f32;
import static dev.tenon.cli.cases.Cpu.sizes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class OnnxCasesTest {
    @TempDir
    private Path folder;

    private static double[] twelve(double value) {
        double[] values = new double[24];
        java.util.Arrays.fill(values, value);
        return values;
    }

    @Test
    @DisplayName("OX-01 softmax before opset 13 is over all dims from the axis on")
    void softmax() {
        Tensor zeros = Tensor.zeros(DType.F32, 2, 3, 4);
        Cpu.close(Onnx.run("softmax_opset11", zeros), twelve(1.0 / 12));
        Cpu.close(Onnx.run("softmax_opset13", zeros), twelve(0.25));
        Tensor x = f32(sizes(1, 2, 2), 0, 0, 0, Math.log(3));
        Cpu.close(Onnx.run("softmax_opset11_axis1", x), 1 / 6.0, 1 / 6.0, 1 / 6.0, 0.5);
    }

    private static Tensor unary(String op, long opset, Tensor x) {
        byte[] bytes = Onnx.model(
                opset,
                graph -> graph.input("x", Onnx.FLOAT, x.shape().sizes())
                        .output("y", Onnx.FLOAT)
                        .node(op, "x", "y", node -> node));
        return Cpu.only(OnnxModel.parse(op, bytes).graph(), Map.of("x", x));
    }

    @Test
    @DisplayName("OX-01 log softmax and hardmax have the same rule")
    void softmaxRelatives() {
        Tensor zeros = Tensor.zeros(DType.F32, 2, 3, 4);
        Cpu.close(unary("LogSoftmax", 11, zeros), twelve(-Math.log(12)));
        Cpu.close(unary("LogSoftmax", 13, zeros), twelve(-Math.log(4)));
        double[] one = new double[24];
        one[0] = 1;
        one[12] = 1;
        Cpu.exactly(unary("Hardmax", 11, zeros), sizes(2, 3, 4), one);
        double[] six = new double[24];
        for (int row = 0; row < 6; row++) {
            six[4 * row] = 1;
        }
        Cpu.exactly(unary("Hardmax", 13, zeros), sizes(2, 3, 4), six);
    }

    @Test
    @DisplayName("OX-02 inputs left out, axes as attribute and as input")
    void optionalInputs() {
        Cpu.exactly(Onnx.run("clip_hole", f32(-10, 3, 9)), sizes(3), -10, 3, 6);
        Tensor x = f32(sizes(2, 2), 1, 2, 3, 4);
        Cpu.exactly(Onnx.run("reducesum_noop", x), sizes(2, 2), 1, 2, 3, 4);
        Cpu.within(Onnx.run("reducesum_all", x), 0, 0, 10);
        Cpu.exactly(Onnx.run("reducesum_axes_input", x), sizes(2, 1), 3, 7);
        Cpu.exactly(Onnx.run("reducesum_axes_attr11", x), sizes(2, 1), 3, 7);
        Cpu.exactly(Onnx.run("squeeze_attr11", f32(sizes(1, 3, 1), 1, 2, 3)), sizes(3, 1), 1, 2, 3);
    }

    private static long[] longs(String list) {
        return java.util.Arrays.stream(list.split(","))
                .mapToLong(Long::parseLong)
                .toArray();
    }

    @ParameterizedTest
    @CsvSource({
        "reshape_a, '2,3,4', '2,12'",
        "reshape_b, '2,2,3,2', '4,2,3'",
        "reshape_c, '0,3', '3,0'",
        "reshape_e, '2,3,4', '4,3,2'"
    })
    @DisplayName("OX-03 reshape copies dims, infers one, takes 0 as it is")
    void reshape(String name, String from, String to) {
        double[] values = new double[(int) java.util.Arrays.stream(longs(from)).reduce(1, (a, b) -> a * b)];
        java.util.Arrays.setAll(values, i -> i);
        Cpu.exactly(Onnx.run(name, f32(longs(from), values)), longs(to), values);
    }

    @ParameterizedTest
    @CsvSource({"reshape_d, '0,3'", "reshape_bad, '0,4'"})
    @DisplayName("OX-03 reshape that cannot be is an error")
    void impossibleReshape(String name, String from) {
        assertThatThrownBy(() -> Onnx.run(name, Tensor.zeros(DType.F32, longs(from))))
                .isInstanceOf(TenonException.class)
                .hasMessageContaining("reshape");
    }

    private Path copied(String name) throws IOException {
        Path models = Files.createDirectories(folder.resolve("models"));
        Files.createDirectories(models.resolve("sub"));
        Files.copy(Onnx.file(name).resolveSibling("../outside.bin"), folder.resolve("outside.bin"));
        Files.copy(Onnx.file(name).resolveSibling("w.bin"), models.resolve("w.bin"));
        Files.createSymbolicLink(models.resolve("link.bin"), folder.resolve("outside.bin"));
        return Files.copy(Onnx.file(name), models.resolve(name + ".onnx"));
    }

    @Test
    @DisplayName("OX-04 external data beside the model")
    void externalData() throws IOException {
        OnnxModel model = OnnxModel.load(copied("ext_ok"));
        String input = model.inputs().getFirst().name();
        Cpu.exactly(Cpu.only(model.graph(), Map.of(input, f32(1, 2))), sizes(2), 11, 22);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ext_dotdot",
                "ext_abs",
                "ext_nested",
                "ext_symlink",
                "ext_eof",
                "ext_short",
                "ext_neg",
                "ext_empty"
            })
    @DisplayName("OX-04 external data anywhere else is an error that names tensor and location")
    void externalDataElsewhere(String name) throws IOException {
        Path model = copied(name);
        assertThatThrownBy(() -> OnnxModel.load(model))
                .isInstanceOf(ImportException.class)
                .hasMessageStartingWith(name + ".onnx: tensor \"w\" in external file \"");
    }

    /** The child of {@link #hugeConstant}. */
    static final class HugeConstant {
        public static void main(String[] args) {
            Tensor y = Onnx.run("fold_blowup", f32(sizes(1, 4), 1, 2, 3, 4));
            System.out.println(y);
        }
    }

    @Test
    @DisplayName("OX-06 a constant of 4 GiB that is sliced costs nothing")
    void hugeConstant() throws Exception {
        Jvm.Result result = Jvm.run(HugeConstant.class, "-Xmx256m", "-XX:MaxDirectMemorySize=512m");
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).contains("{2.0, 4.0, 6.0, 8.0}");
        assertThat(result.code()).isZero();
    }
}
