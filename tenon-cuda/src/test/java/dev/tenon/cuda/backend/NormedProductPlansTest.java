package dev.tenon.cuda.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.NormedMatMul;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.report.StepReport;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is planned for a product and its norm on a device of sm_90. */
class NormedProductPlansTest {
    private static final String PASS = "fuse-normed-products";

    private static List<StepReport> steps(DType dtype, long rows, long columns, long depth, String... skip) {
        Graph graph = GraphBuilder.build("block", g -> {
            Value x = g.input("x", TensorType.of(dtype, rows, depth));
            Value weight = g.input("w", TensorType.of(dtype, columns, depth));
            Value residual = g.input("r", TensorType.of(dtype, rows, columns));
            TensorType row = TensorType.of(dtype, columns);
            Value sum = g.add(g.add(g.matmul(x, g.transpose(weight, 1, 0)), g.input("b", row)), residual);
            Value gamma = g.input("gamma", row);
            g.output(
                    "y",
                    g.add("norm", new LayerNorm(1, 1e-12, true, true), List.of(sum, gamma, g.input("beta", row)))
                            .getFirst());
        });
        return FakePlans.steps(graph, skip);
    }

    @Test
    void manyRowsAreMadeInOneLaunch() {
        List<StepReport> steps = steps(DType.F16, 32768, 384, 1536);
        assertThat(steps).hasSize(1);
        assertThat(steps.getFirst().tier())
                .isEqualTo("matmul_norm, tiles of 128x192, 2 blocks a row, f16, bias, residual, layer_norm");
        assertThat(steps(DType.BF16, 32768, 256, 768).getFirst().tier())
                .isEqualTo("matmul_norm, tiles of 128x256, bf16, bias, residual, layer_norm");
    }

    @Test
    void rowsOfSeveralBlocksAndTf32AreMadeInOneLaunch() {
        assertThat(steps(DType.F16, 32768, 768, 768).getFirst().tier())
                .isEqualTo("matmul_norm, tiles of 128x192, 4 blocks a row, f16, bias, residual, layer_norm");
        assertThat(steps(DType.F32, 32768, 384, 384).getFirst().tier())
                .isEqualTo("matmul_norm, tiles of 128x192, 2 blocks a row, TF32, bias, residual, layer_norm");
    }

    @Test
    void fewerRowsAreMadeApartInOneStepThatSaysWhy() {
        List<StepReport> steps = steps(DType.F16, 1024, 384, 384);
        assertThat(steps).hasSize(1);
        assertThat(steps.getFirst().tier()).contains("bias, residual; layernorm");
        assertThat(steps.getFirst().passedOver().getFirst()).matches("matmul_norm: .* us by the model, .*");
    }

    @Test
    void productsOfResidentLaunchesStayNodes() {
        assertThat(steps(DType.F16, 512, 384, 384)).hasSize(2);
    }

    @Test
    void othersStayTwoSteps() {
        assertThat(steps(DType.F32, 32768, 2048, 384)).hasSize(2);
        assertThat(steps(DType.F16, 32768, 312, 384)).hasSize(2);
        assertThat(steps(DType.F16, 32768, 384, 384, PASS)).hasSize(2);
    }

    /** The product of weights [k,n] and its norm, as one node or as two. */
    private static Graph alongColumns(boolean constant, boolean whole) {
        long depth = 1536;
        long columns = 384;
        NdArray weights = NdArray.zeros(DType.F16, depth, columns);
        weights.set(1, 1.0);
        return GraphBuilder.build("block", g -> {
            Value x = g.input("x", TensorType.of(DType.F16, 32768, depth));
            Value w = constant ? g.constant(weights.toConstant()) : g.input("w", weights.type());
            Value gamma = g.input("gamma", TensorType.of(DType.F16, columns));
            MatMul product = new MatMul(false, false, Epilogue.NONE);
            g.output(
                    "y",
                    whole
                            ? g.add(new NormedMatMul(product, false, 1e-6), x, w, gamma)
                            : g.add(new RmsNorm(1, 1e-6, true), g.add(product, x, w), gamma));
        });
    }

    @Test
    void weightsAlongColumnsAreTakenWhereTheyAreConstant() {
        for (boolean whole : new boolean[] {false, true}) {
            assertThat(FakePlans.steps(alongColumns(false, whole)))
                    .extracting(StepReport::op)
                    .containsExactly("mat_mul", "rms_norm");
            assertThat(FakePlans.plan(alongColumns(true, whole)).graph().nodes())
                    .extracting(node -> node.op().mnemonic())
                    .containsExactly("normed_mat_mul");
        }
    }
}
