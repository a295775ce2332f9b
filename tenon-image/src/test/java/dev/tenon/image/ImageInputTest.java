package dev.tenon.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.error.InputException;
import dev.tenon.core.tensor.Tensor;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ImageInputTest {
    private static final double[] MEAN = {0.485, 0.456, 0.406};
    private static final double[] DEVIATION = {0.229, 0.224, 0.225};

    @Test
    void imagenetIsResizeCropAndNormalise() {
        Picture picture = ResamplingTest.noise(300, 420);
        Tensor tensor = ImageInput.imagenet().prepare(picture);
        assertThat(tensor.shape().sizes()).containsExactly(1, 3, 224, 224);
        // the shorter side becomes 256, the longer one 358.4, rounded down; the middle is from 16 and 67 on
        Picture sized = picture.resize(256, 358, Resampling.BILINEAR);
        for (int channel = 0; channel < 3; channel++) {
            for (int y = 0; y < 224; y += 13) {
                for (int x = 0; x < 224; x += 17) {
                    double expected = (sized.at(x + 16, y + 67, channel) / 255.0 - MEAN[channel]) / DEVIATION[channel];
                    assertThat((double) tensor.getFloat(tensor.index(0, channel, y, x)))
                            .isCloseTo(expected, within(1e-6));
                }
            }
        }
    }

    @Test
    void channelsMayComeLastAndBlueFirst() {
        Picture picture = ResamplingTest.noise(12, 10);
        ImageInput input = new ImageInput(
                ImageInput.Fit.STRETCH,
                12,
                10,
                Resampling.BILINEAR,
                List.of(0.0, 0.25, 0.5),
                List.of(1.0, 2.0, 4.0),
                true,
                true);
        Tensor tensor = input.prepare(picture);
        assertThat(tensor.shape().sizes()).containsExactly(1, 10, 12, 3);
        for (int y = 0; y < 10; y++) {
            for (int x = 0; x < 12; x++) {
                assertThat((double) tensor.getFloat(tensor.index(0, y, x, 0)))
                        .isCloseTo(picture.at(x, y, 2) / 255.0, within(1e-6));
                assertThat((double) tensor.getFloat(tensor.index(0, y, x, 2)))
                        .isCloseTo((picture.at(x, y, 0) / 255.0 - 0.5) / 4, within(1e-6));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "clip, 300, 100, 3, 224, 224",
        "imagenet, 50, 60, 3, 224, 224",
        "symmetric, 31, 99, 224, 224, 3",
        "ppocr-detection, 1000, 500, 3, 480, 960",
        "ppocr-detection, 70, 20, 3, 32, 64",
        "ppocr-direction, 700, 20, 3, 48, 192",
        "ppocr-recognition, 20, 20, 3, 48, 320"
    })
    void presetsGiveTheirSizes(String preset, int width, int height, long first, long second, long third) {
        Tensor tensor = ImageInput.preset(preset).prepare(ResamplingTest.noise(width, height));
        assertThat(tensor.shape().sizes()).containsExactly(1, first, second, third);
        for (float value : tensor.toFloats()) {
            assertThat(value).isBetween(-3f, 3f);
        }
    }

    @Test
    void narrowLineIsFilledUpWithZeros() {
        Tensor tensor = ImageInput.ppocrDirection().prepare(ResamplingTest.noise(20, 20));
        assertThat(tensor.getFloat(tensor.index(0, 1, 30, 48))).isZero();
        assertThat(tensor.getFloat(tensor.index(0, 1, 30, 191))).isZero();
    }

    @Test
    void wrongSettingsAreRefused() {
        ImageInput input = ImageInput.imagenet();
        assertThatThrownBy(() -> input.withSize(0, 4)).isInstanceOf(InputException.class);
        assertThatThrownBy(() -> input.withNormalisation(List.of(0.0), List.of(1.0)))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("3 numbers");
        assertThatThrownBy(() -> input.withNormalisation(List.of(0.0, 0.0, 0.0), List.of(1.0, 0.0, 1.0)))
                .isInstanceOf(InputException.class);
        assertThatThrownBy(() -> ImageInput.preset("imagnet"))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("imagenet");
        assertThat(ImageInput.presets()).containsAllEntriesOf(Map.of("clip", ImageInput.clip()));
    }
}
