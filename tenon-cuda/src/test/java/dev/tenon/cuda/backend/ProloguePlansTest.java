package dev.tenon.cuda.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.GatedUnit;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.report.StepReport;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is planned for products whose rows another operation makes. */
class ProloguePlansTest {
    private static final Op NORM = new RmsNorm(1, 1e-5, true);

    private record Sizes(long rows, long columns, long depth) {}

    private static Graph graph(Op prologue, DType dtype, Sizes sizes, boolean alongK) {
        return GraphBuilder.build("product", g -> {
            long width = prologue instanceof GatedUnit ? 2 * sizes.depth : sizes.depth;
            List<Value> operands = new ArrayList<>(List.of(g.input("x", TensorType.of(dtype, sizes.rows, width))));
            while (operands.size() < prologue.arity().min()) {
                operands.add(g.input("row" + operands.size(), TensorType.of(dtype, sizes.depth)));
            }
            Value w = g.input(
                    "w",
                    alongK
                            ? TensorType.of(dtype, sizes.columns, sizes.depth)
                            : TensorType.of(dtype, sizes.depth, sizes.columns));
            MatMul product = new MatMul(false, alongK, Epilogue.NONE);
            g.output("y", g.add(product, g.add("made", prologue, operands).getFirst(), w));
        });
    }

    private static List<StepReport> steps(Op prologue, DType dtype, Sizes sizes, boolean alongK, String... skip) {
        return FakePlans.steps(graph(prologue, dtype, sizes, alongK), skip);
    }

    @Test
    void normsOfFewRowsAreMadeInTheProduct() {
        Sizes one = new Sizes(1, 1024, 2048);
        assertThat(steps(NORM, DType.BF16, one, true)).hasSize(1);
        assertThat(steps(NORM, DType.BF16, one, true).getFirst().tier())
                .isEqualTo("g gemv: rms_norm, gemv_along_k, bf16");
        assertThat(steps(NORM, DType.F16, one, false).getFirst().tier())
                .isEqualTo("g gemv: rms_norm, gemv_across_k, f16");
        LayerNorm layer = new LayerNorm(1, 1e-5, true, true);
        assertThat(steps(layer, DType.F64, new Sizes(2, 1024, 2048), true)
                        .getFirst()
                        .tier())
                .isEqualTo("g gemv: layer_norm, gemv_along_k, f64");
    }

    @Test
    void functionsAreMadeWhereBlocksShareTheSum() {
        Sizes one = new Sizes(1, 2048, 8192);
        GatedUnit unit = new GatedUnit(Unary.silu(), false);
        assertThat(steps(unit, DType.BF16, one, false).getFirst().tier())
                .isEqualTo("g gemv: gated_unit of silu, gemv_across_k, bf16");
        assertThat(steps(Unary.of(UnaryFn.TANH), DType.BF16, one, false)
                        .getFirst()
                        .tier())
                .isEqualTo("g gemv: tanh, gemv_across_k, bf16");
        assertThat(steps(unit, DType.BF16, one, true)).hasSize(2);
    }

    @Test
    void othersStayTwoSteps() {
        assertThat(steps(NORM, DType.BF16, new Sizes(3, 1024, 2048), true)).hasSize(2);
        assertThat(steps(NORM, DType.BF16, new Sizes(2, 1024, 2048), false)).hasSize(2);
        assertThat(steps(NORM, DType.BF16, new Sizes(1, 64, 2048), true)).hasSize(2);
        assertThat(steps(NORM, DType.BF16, new Sizes(1, 16384, 2048), false)).hasSize(2);
        assertThat(steps(NORM, DType.BF16, new Sizes(1, 1024, 2048), true, "fuse-prologues"))
                .hasSize(2);
    }

    @Test
    void aScaleOfOneNumberStaysWithItsNorm() {
        Graph graph = GraphBuilder.build("product", g -> {
            Value x = g.input("x", TensorType.of(DType.BF16, 1, 2048));
            Value scale = g.input("scale", TensorType.of(DType.BF16, 1));
            Value w = g.input("w", TensorType.of(DType.BF16, 1024, 2048));
            Value made = g.add("made", NORM, List.of(x, scale)).getFirst();
            g.output("y", g.add(new MatMul(false, true, Epilogue.NONE), made, w));
        });
        assertThat(FakePlans.steps(graph)).hasSize(2);
    }

    @Test
    void partsRunInOneStepThatSaysWhy() {
        List<StepReport> steps = steps(NORM, DType.F64, new Sizes(2, 64, 40_000), true);
        assertThat(steps).hasSize(1);
        assertThat(steps.getFirst().op()).isEqualTo("prologue_mat_mul");
        assertThat(steps.getFirst().tier()).startsWith("rmsnorm").contains("; g gemv: gemv_along_k, f64");
        assertThat(steps.getFirst().passedOver().getFirst())
                .startsWith("prologue: rows take ")
                .contains("bytes of shared memory");
    }
}
