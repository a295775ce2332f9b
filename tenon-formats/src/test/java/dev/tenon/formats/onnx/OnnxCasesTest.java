package dev.tenon.formats.onnx;

import static dev.tenon.formats.onnx.Cases.f32;
import static dev.tenon.formats.onnx.Cases.run;
import static dev.tenon.formats.onnx.Cases.shape;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rules of the operator sets that importers have got wrong: one file each. */
class OnnxCasesTest {
    private static final Offset<Double> EXACT = Offset.offset(1e-9);

    @Test
    void softmaxBeforeOpset13IsOverAllDimsFromTheAxis() {
        NdArray zeros = NdArray.zeros(DType.F32, 2, 3, 4);
        assertThat(run("softmax_opset11", zeros).toDoubles()).containsOnly(new double[] {1.0 / 12}, EXACT);
        assertThat(run("softmax_opset13", zeros).toDoubles()).containsOnly(new double[] {0.25}, EXACT);
        NdArray x = f32(shape(1, 2, 2), 0, 0, 0, Math.log(3));
        assertThat(run("softmax_opset11_axis1", x).toDoubles())
                .containsExactly(new double[] {1 / 6.0, 1 / 6.0, 1 / 6.0, 0.5}, Offset.offset(1e-7));
    }

    @Test
    void anEmptyNameIsAnInputLeftOut() {
        assertThat(run("clip_hole", f32(shape(3), -10, 3, 9)).toDoubles()).containsExactly(-10, 3, 6);
    }

    @ParameterizedTest
    @CsvSource({
        "reducesum_noop, '2,2', '1,2,3,4'",
        "reducesum_axes_input, '2,1', '3,7'",
        "reducesum_axes_attr11, '2,1', '3,7'"
    })
    void axesAreAnAttributeOrAnInput(String name, String sizes, String values) {
        NdArray sum = run(name, f32(shape(2, 2), 1, 2, 3, 4));
        assertThat(sum.shape()).isEqualTo(Shape.of(longs(sizes)));
        assertThat(sum.toLongs()).containsExactly(longs(values));
    }

    @Test
    void noAxesAreAllAxes() {
        assertThat(run("reducesum_all", f32(shape(2, 2), 1, 2, 3, 4)).toDoubles())
                .containsExactly(10);
    }

    @Test
    void squeezeReadsItsAttribute() {
        assertThat(run("squeeze_attr11", f32(shape(1, 3, 1), 1, 2, 3)).shape()).isEqualTo(Shape.of(3, 1));
    }

    @ParameterizedTest
    @CsvSource({
        "reshape_a, '2,3,4', '2,12'",
        "reshape_b, '2,2,3,2', '4,2,3'",
        "reshape_c, '0,3', '3,0'",
        "reshape_e, '2,3,4', '4,3,2'"
    })
    void reshapeCopiesInfersOrTakesZeroAsItIs(String name, String from, String to) {
        NdArray x = NdArray.zeros(DType.F32, longs(from));
        assertThat(run(name, x).shape()).isEqualTo(Shape.of(longs(to)));
    }

    @Test
    void reshapeThatCannotBeIsRefused() {
        NdArray empty = NdArray.zeros(DType.F32, 0, 3);
        assertThatThrownBy(() -> run("reshape_d", empty)).isInstanceOf(TenonException.class);
        assertThatThrownBy(() -> run("reshape_bad", NdArray.zeros(DType.F32, 0, 4)))
                .isInstanceOf(TenonException.class);
    }

    @Test
    void averagePoolCountsPaddingButNotWhatCeilAdds() {
        double[] values = new double[16];
        java.util.Arrays.setAll(values, i -> i + 1);
        double[] pooled = run("avgpool_ceil", f32(shape(1, 1, 4, 4), values)).toDoubles();
        assertThat(pooled).containsExactly(new double[] {14 / 9.0, 10 / 3.0, 2, 19 / 3.0, 11, 6, 4.5, 7.5, 4}, EXACT);
    }

    @ParameterizedTest
    @CsvSource({"int_div, '2,-2,-2,2'", "int_mod, '1,2,-2,-1'", "int_fmod, '1,-1,1,-1'"})
    void integerDivisionTruncatesAndModTakesTheDivisorsSign(String name, String expected) {
        OnnxModel model = Cases.load(name);
        TensorType type = TensorType.of(DType.I32, 4);
        NdArray result = Interpreter.run(
                        model.graph(),
                        Map.of(
                                model.inputs().get(0).name(), NdArray.of(type, 7L, -7, 7, -7),
                                model.inputs().get(1).name(), NdArray.of(type, 3L, 3, -3, -3)))
                .firstEntry()
                .getValue();
        assertThat(result.toLongs()).containsExactly(longs(expected));
    }

    @Test
    void aConstantOfShapeCostsNothing() {
        OnnxModel model = Cases.load("fold_blowup");
        long held = 0;
        for (Value constant : model.graph().constants()) {
            if (constant.origin() instanceof Value.Origin.Constant(ConstantData data)) {
                held += data.heldBytes();
            }
        }
        assertThat(held).isLessThan(1024);
    }

    @Test
    void whatTheFileSays() {
        OnnxModel model = Cases.load("softmax_opset11");
        assertThat(model.opsets()).containsExactly(Map.entry("", 11L));
        assertThat(model.irVersion()).isPositive();
        assertThat(model.inputs()).hasSize(1);
        assertThat(model.outputs()).hasSize(1);
        assertThat(model.inputs().getFirst().type()).isEqualTo(TensorType.of(DType.F32, 2, 3, 4));
    }

    @Test
    void aFileThatIsNotThere() {
        assertThatThrownBy(() -> OnnxModel.load(Cases.file("cases").resolve("missing.onnx")))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("missing.onnx");
    }

    private static long[] longs(String list) {
        return java.util.Arrays.stream(list.split(","))
                .mapToLong(Long::parseLong)
                .toArray();
    }
}
