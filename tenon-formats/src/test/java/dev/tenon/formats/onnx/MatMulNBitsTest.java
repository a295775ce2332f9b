package dev.tenon.formats.onnx;

import static dev.tenon.formats.onnx.Wire.number;
import static dev.tenon.formats.onnx.Wire.tensor;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Products with weights of 8 and 4 bits against their definition in float64. */
class MatMulNBitsTest {
    private static final Offset<Double> NEAR = Offset.offset(1e-4);
    private static final int F32 = 1;
    private static final int U8 = 2;
    private static final int ROWS = 3;
    private static final int COLUMNS = 5;

    private final Random random = new Random(11);

    private static OnnxModel model(UnaryOperator<Wire> graph) {
        return OnnxModel.parse(
                "model",
                Wire.model(
                        graph,
                        m -> m.message(8, o -> o.string(1, "com.microsoft").number(2, 1))));
    }

    private byte[] bytes(long count) {
        byte[] raw = new byte[(int) count];
        random.nextBytes(raw);
        return raw;
    }

    private static int element(byte[] raw, int bits, long at) {
        return bits == 8 ? raw[(int) at] & 255 : raw[(int) (at / 2)] >> (int) (at % 2 * 4) & 15;
    }

    private record Weight(int bits, int depth, int block, byte[] q, byte[] zeros, float[] scales) {
        int blocks() {
            return Math.ceilDiv(depth, block);
        }

        int zero(int row, int at) {
            int width = bits == 4 ? (blocks() + 1) / 2 * 2 : blocks();
            return zeros.length == 0 ? 1 << (bits - 1) : element(zeros, bits, (long) row * width + at);
        }

        double at(int row, int k) {
            int number = k / block;
            int integer = element(q, bits, (long) row * blocks() * block + k);
            return scales[row * blocks() + number] * (integer - zero(row, number));
        }
    }

    private Weight weight(int bits, int depth, int block, boolean zeros) {
        int blocks = Math.ceilDiv(depth, block);
        float[] scales = new float[COLUMNS * blocks];
        for (int i = 0; i < scales.length; i++) {
            scales[i] = random.nextFloat(0.01f, 0.1f);
        }
        byte[] points = zeros ? bytes((long) COLUMNS * (bits == 4 ? (blocks + 1) / 2 : blocks)) : new byte[0];
        return new Weight(bits, depth, block, bytes((long) COLUMNS * blocks * block * bits / 8), points, scales);
    }

    private static OnnxModel model(Weight w, String inputs, UnaryOperator<Wire> more) {
        return model(g -> {
            g.inputOf(F32, "x", ROWS, w.depth).output("y", 1);
            tensor(g, "q", U8, w.q, COLUMNS, w.blocks(), (long) w.block * w.bits / 8);
            ByteBuffer scales = ByteBuffer.allocate(4 * w.scales.length).order(ByteOrder.LITTLE_ENDIAN);
            scales.asFloatBuffer().put(w.scales);
            tensor(g, "scales", F32, scales.array(), w.scales.length);
            tensor(g, "zeros", U8, w.zeros, w.zeros.length);
            tensor(g, "bias", F32, new byte[4 * COLUMNS], COLUMNS);
            UnaryOperator<Wire> attributes = n -> more.apply(number("block_size", w.block)
                    .apply(number("bits", w.bits)
                            .apply(number("N", COLUMNS)
                                    .apply(number("K", w.depth).apply(n.string(7, "com.microsoft"))))));
            return g.node("MatMulNBits", "n", inputs, "y", attributes);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "4, 64, 32, false, x q scales",
        "4, 96, 32, true, x q scales zeros",
        "4, 70, 16, true, x q scales zeros - bias",
        "8, 64, 16, false, x q scales",
        "8, 40, 16, true, x q scales zeros"
    })
    void productIsThatOfTheWeightWrittenOut(int bits, int depth, int block, boolean zeros, String inputs) {
        Weight w = weight(bits, depth, block, zeros);
        NdArray x = NdArray.zeros(DType.F32, ROWS, depth);
        for (int i = 0; i < x.size(); i++) {
            x.set(i, (float) random.nextDouble(-1, 1));
        }
        OnnxModel model = model(w, inputs, n -> n);
        assertThat(model.graph().toString()).contains("scaled_mat_mul");
        double[] y = Interpreter.run(model.graph(), Map.of("x", x)).get("y").toDoubles();
        for (int row = 0; row < ROWS; row++) {
            for (int column = 0; column < COLUMNS; column++) {
                double sum = 0;
                for (int k = 0; k < depth; k++) {
                    sum += x.get(row * depth + k) * w.at(column, k);
                }
                assertThat(y[row * COLUMNS + column]).isCloseTo(sum, NEAR);
            }
        }
    }

    @Test
    void otherWidthsAndOrdersAreRefused() {
        Weight three = new Weight(3, 32, 16, new byte[60], new byte[0], new float[10]);
        assertThatThrownBy(() -> model(three, "x q scales", n -> n).graph())
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("bits are 3");
        Weight w = weight(4, 32, 16, false);
        assertThatThrownBy(() -> model(w, "x q scales - zeros", n -> n).graph())
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("g_idx");
    }
}
