package dev.tenon.cuda.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.report.StepReport;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is planned for the products and the attention of an encoder's layer on a device of sm_90. */
class ProjectedAttentionPlansTest {
    private static final String PASS = "fuse-projected-attention";

    /** What a mask has an element for. */
    private enum Masked {
        NOTHING,
        KEYS,
        QUERIES
    }

    /** Self-attention of one product. */
    private record Layer(DType dtype, long batch, long tokens, long heads, long size, Masked masked) {
        Graph graph(boolean read) {
            return GraphBuilder.build("layer", g -> {
                long hidden = heads * size;
                Value x = g.input("x", TensorType.of(dtype, batch, tokens, hidden));
                Value weight = g.input("w", TensorType.of(dtype, hidden, 3 * hidden));
                Value product = g.add(g.matmul(x, weight), g.input("b", TensorType.of(dtype, 3 * hidden)));
                List<Value> operands = new ArrayList<>(List.of(g.reshape(product, batch, tokens, 3, heads, size)));
                boolean mask = masked != Masked.NOTHING;
                if (mask) {
                    long queries = masked == Masked.KEYS ? 1 : tokens;
                    operands.add(g.input("mask", TensorType.of(dtype, batch, 1, queries, tokens)));
                }
                PlainAttention attention = new PlainAttention(mask, true, 1 / Math.sqrt(size), false);
                g.output("y", g.addAll(attention, operands).getFirst());
                if (read) {
                    g.output("q", g.unary(UnaryFn.TANH, product));
                }
            });
        }

        List<StepReport> steps(String... skip) {
            return FakePlans.steps(graph(false), skip);
        }
    }

    private static void assertWhole(Layer layer, String tier) {
        List<StepReport> steps = layer.steps();
        assertThat(steps).as("%s", layer).hasSize(1);
        assertThat(steps.getFirst().op()).isEqualTo("projected_attention");
        assertThat(steps.getFirst().tier()).isEqualTo(tier);
    }

    @Test
    void wholeSequencesAreMadeInOneLaunch() {
        assertWhole(
                new Layer(DType.F16, 32, 128, 12, 64, Masked.KEYS), "matmul_attention, f16, heads of 64, bias, mask");
        assertWhole(
                new Layer(DType.BF16, 32, 128, 12, 64, Masked.NOTHING), "matmul_attention, bf16, heads of 64, bias");
        assertWhole(
                new Layer(DType.F16, 256, 128, 12, 32, Masked.KEYS), "matmul_attention, f16, heads of 32, bias, mask");
    }

    @Test
    void whatTheModelFindsLaterIsMadeApartInOneStepThatSaysWhy() {
        List<StepReport> steps = new Layer(DType.F16, 256, 65, 12, 64, Masked.KEYS).steps();
        assertThat(steps).hasSize(1);
        assertThat(steps.getFirst().tier()).contains("; attention_short_wgmma, f16, heads of 64");
        assertThat(steps.getFirst().passedOver().getFirst()).matches("matmul_attention: .* us by the model, .*");
    }

    @Test
    void othersStayTwoSteps() {
        for (Layer layer : List.of(
                new Layer(DType.F16, 4, 128, 12, 64, Masked.KEYS),
                new Layer(DType.F16, 256, 64, 12, 64, Masked.KEYS),
                new Layer(DType.F16, 32, 256, 12, 64, Masked.KEYS),
                new Layer(DType.F16, 32, 128, 12, 64, Masked.QUERIES),
                new Layer(DType.F16, 32, 128, 12, 48, Masked.KEYS),
                new Layer(DType.F32, 32, 128, 12, 64, Masked.KEYS))) {
            assertThat(layer.steps()).as("%s", layer).extracting(StepReport::op).contains("mat_mul", "plain_attention");
        }
        Layer layer = new Layer(DType.F16, 32, 128, 12, 64, Masked.KEYS);
        assertThat(layer.steps(PASS)).extracting(StepReport::op).containsExactly("mat_mul", "plain_attention");
        assertThat(FakePlans.steps(layer.graph(true)))
                .extracting(StepReport::op)
                .contains("mat_mul", "plain_attention");
    }
}
