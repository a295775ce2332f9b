package dev.tenon.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.error.InputException;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against the filters written out in float64, over all pixels, without fixed point. */
class ResamplingTest {
    static Picture noise(int width, int height) {
        byte[] pixels = new byte[width * height * 3];
        new Random(width * 31L + height).nextBytes(pixels);
        return Picture.of(width, height, pixels);
    }

    private static double bilinear(double x) {
        return Math.abs(x) < 1 ? 1 - Math.abs(x) : 0;
    }

    private static double bicubic(double x) {
        double t = Math.abs(x);
        return t < 1 ? 1.5 * t * t * t - 2.5 * t * t + 1 : t < 2 ? -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2 : 0;
    }

    /** One direction of [lines][pixels], clipped to bytes but not rounded. */
    private static double[][] resampled(double[][] lines, int to, DoubleUnaryOperator filter) {
        int from = lines[0].length;
        double scale = (double) from / to;
        double wide = Math.max(1, scale);
        double[][] results = new double[lines.length][to];
        for (int i = 0; i < to; i++) {
            double total = 0;
            for (int k = 0; k < from; k++) {
                total += filter.applyAsDouble((k + 0.5 - (i + 0.5) * scale) / wide);
            }
            for (int line = 0; line < lines.length; line++) {
                double sum = 0;
                for (int k = 0; k < from; k++) {
                    sum += lines[line][k] * filter.applyAsDouble((k + 0.5 - (i + 0.5) * scale) / wide) / total;
                }
                results[line][i] = Math.clamp(sum, 0, 255);
            }
        }
        return results;
    }

    private static double[][] turned(double[][] lines) {
        double[][] columns = new double[lines[0].length][lines.length];
        for (int y = 0; y < lines.length; y++) {
            for (int x = 0; x < lines[0].length; x++) {
                columns[x][y] = lines[y][x];
            }
        }
        return columns;
    }

    @ParameterizedTest
    @CsvSource({
        "BILINEAR, 40, 30, 17, 11", "BILINEAR, 9, 7, 31, 20", "BILINEAR, 33, 1, 8, 5", "BILINEAR, 12, 12, 12, 5",
        "BICUBIC, 40, 30, 17, 11", "BICUBIC, 9, 7, 31, 20", "BICUBIC, 64, 48, 1, 1", "BICUBIC, 1, 1, 6, 4"
    })
    void sizesAgreeWithTheFormula(Resampling filter, int width, int height, int toWidth, int toHeight) {
        Picture picture = noise(width, height);
        Picture small = picture.resize(toWidth, toHeight, filter);
        assertThat(small.width()).isEqualTo(toWidth);
        assertThat(small.height()).isEqualTo(toHeight);
        DoubleUnaryOperator weight = filter == Resampling.BILINEAR ? ResamplingTest::bilinear : ResamplingTest::bicubic;
        for (int channel = 0; channel < 3; channel++) {
            double[][] values = new double[height][width];
            for (int y = 0; y < height; y++) {
                for (int x = 0; x < width; x++) {
                    values[y][x] = picture.at(x, y, channel);
                }
            }
            double[][] expected = turned(resampled(turned(resampled(values, toWidth, weight)), toHeight, weight));
            for (int y = 0; y < toHeight; y++) {
                for (int x = 0; x < toWidth; x++) {
                    // half a level is lost in each direction, and the cubic's negative weights make a little more of it
                    assertThat((double) small.at(x, y, channel))
                            .as("pixel %d %d channel %d", x, y, channel)
                            .isCloseTo(expected[y][x], within(1.3));
                }
            }
        }
    }

    /** From Pillow 12.3: a row of 8 gray pixels. */
    @Test
    void rowHasPillowsNumbers() {
        int[] row = {0, 10, 200, 30, 255, 128, 64, 5};
        byte[] pixels = new byte[24];
        for (int i = 0; i < 24; i++) {
            pixels[i] = (byte) row[i / 3];
        }
        Picture picture = Picture.of(8, 1, pixels);
        assertThat(row(picture.resize(3, 1, Resampling.BILINEAR))).containsExactly(54, 145, 77);
        assertThat(row(picture.resize(5, 1, Resampling.BICUBIC))).containsExactly(0, 118, 151, 142, 23);
        assertThat(row(picture.resize(12, 1, Resampling.BICUBIC)))
                .containsExactly(0, 0, 35, 187, 113, 49, 233, 210, 114, 74, 29, 1);
    }

    private static int[] row(Picture picture) {
        int[] row = new int[picture.width()];
        for (int x = 0; x < row.length; x++) {
            row[x] = picture.at(x, 0, 1);
        }
        return row;
    }

    @Test
    void emptySizeIsRefused() {
        assertThatThrownBy(() -> noise(3, 3).resize(0, 3, Resampling.BILINEAR))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("0 by 3");
    }
}
