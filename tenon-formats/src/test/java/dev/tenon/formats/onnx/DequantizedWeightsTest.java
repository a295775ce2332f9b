package dev.tenon.formats.onnx;

import static dev.tenon.formats.onnx.Wire.number;
import static dev.tenon.formats.onnx.Wire.tensor;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Tolerance;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** DequantizeLinear of a constant weight, multiplied: no plan writes the weight out. */
class DequantizedWeightsTest {
    private static final int F32 = 1;
    private static final int I8 = 3;
    private static final int ROWS = 3;
    private static final int COLUMNS = 130;
    private static final int DEPTH = 512;

    private final Random random = new Random(5);

    private byte[] floats(int count) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * count).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            bytes.putFloat(random.nextFloat(0.005f, 0.01f));
        }
        return bytes.array();
    }

    /** A weight [depth, columns], or transposed, with a scale a column or a block of 32. */
    private OnnxModel model(String product, boolean transposed, boolean blocked) {
        byte[] q = new byte[DEPTH * COLUMNS];
        random.nextBytes(q);
        int along = blocked ? DEPTH / 32 : 1;
        long axis = blocked == transposed ? 1 : 0; // of the depth for blocks, else of the columns
        return OnnxModel.parse(
                "model",
                Wire.model(
                        g -> {
                            g.inputOf(F32, "x", ROWS, DEPTH).output("y", 1);
                            tensor(g, "q", I8, q, transposed ? COLUMNS : DEPTH, transposed ? DEPTH : COLUMNS);
                            if (blocked) {
                                long[] sizes = transposed ? new long[] {COLUMNS, along} : new long[] {along, COLUMNS};
                                tensor(g, "scale", F32, floats(along * COLUMNS), sizes);
                            } else {
                                tensor(g, "scale", F32, floats(COLUMNS), COLUMNS);
                            }
                            tensor(g, "bias", F32, floats(COLUMNS), COLUMNS);
                            g.node(
                                    "DequantizeLinear",
                                    "dequantize",
                                    "q scale",
                                    "w",
                                    n -> number("axis", axis)
                                            .apply(
                                                    blocked
                                                            ? number("block_size", 32)
                                                                    .apply(n)
                                                            : n));
                            boolean gemm = product.equals("Gemm");
                            return g.node(
                                    product,
                                    "product",
                                    gemm ? "x w bias" : "x w",
                                    "y",
                                    n -> gemm
                                            ? number("transB", transposed ? 1 : 0)
                                                    .apply(n)
                                            : n);
                        },
                        m -> m));
    }

    @ParameterizedTest
    @CsvSource({
        "MatMul, false, false",
        "MatMul, false, true",
        "Gemm, false, true",
        "Gemm, true, false",
        "Gemm, true, true"
    })
    void productTakesThePackedWeight(String product, boolean transposed, boolean blocked) {
        Graph imported = model(product, transposed, blocked).graph();
        Graph prepared = new Compiler(CompilerOptions.defaults(), _ -> false)
                .prepare(imported, Map.of())
                .serving(Map.of());
        assertThat(prepared.toString()).contains("scaled_mat_mul").doesNotContain("dequantize(");
        NdArray x = NdArray.zeros(DType.F32, ROWS, DEPTH);
        for (int i = 0; i < x.size(); i++) {
            x.set(i, (float) random.nextDouble(-1, 1));
        }
        NdArray expected = Interpreter.run(imported, Map.of("x", x)).get("y");
        Tolerance.of(DType.F32, DEPTH)
                .check(
                        product,
                        expected,
                        Interpreter.run(prepared, Map.of("x", x)).get("y"));
    }
}
