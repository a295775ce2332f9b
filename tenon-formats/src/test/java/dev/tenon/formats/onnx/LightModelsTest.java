package dev.tenon.formats.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Value;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whole networks: types all the way through, and weights by ConstantOfShape that take no memory. */
class LightModelsTest {
    @ParameterizedTest
    @CsvSource({
        "light_squeezenet, 'f32[1,1000,1,1]'",
        "light_resnet50, 'f32[1,1000]'",
        "light_shufflenet, 'f32[1,1000]'",
        "light_inception_v2, 'f32[1,1000]'"
    })
    void imports(String name, String output) {
        OnnxModel model = OnnxModel.load(Cases.file("light/" + name + ".onnx"));
        assertThat(model.outputs()).hasSize(1);
        assertThat(model.outputs().getFirst().type()).hasToString(output);
        assertThat(model.inputs().getFirst().type()).hasToString("f32[1,3,224,224]");
        for (Value constant : model.graph().constants()) {
            assertThat(constant.origin())
                    .isInstanceOfSatisfying(
                            Value.Origin.Constant.class,
                            origin -> assertThat(origin.data())
                                    .satisfiesAnyOf(
                                            data -> assertThat(data).isInstanceOf(ConstantData.Splat.class),
                                            data -> assertThat(data.heldBytes()).isLessThan(64 * 1024)));
        }
    }
}
