package dev.tenon.cuda.lower.resident;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.ProjectedAttention;
import dev.tenon.core.ir.op.normalisation.NormedMatMul;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.plan.Planned;
import dev.tenon.cuda.lower.resident.ResidentPhase.Kind;
import dev.tenon.cuda.lower.resident.ResidentPhase.Rows;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.DeviceProperties;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which nodes become phases, and how these are spread, decided without a device. */
class ResidentPlanTest {
    private static final long HIDDEN = 64;
    private static final long INNER = 256;

    private static DeviceProperties device(int major, boolean cooperative) {
        return new DeviceProperties(
                0,
                "none",
                new Architecture(major, 0),
                132,
                80L << 30,
                48 << 10,
                227 << 10,
                228 << 10,
                65536,
                2048,
                50 << 20,
                cooperative);
    }

    private static Plan plan(long tokens, CompilerOptions options) {
        Graph graph = GraphBuilder.build("layer", g -> {
            Value x = g.input("x", TensorType.of(DType.F16, 1, tokens, HIDDEN));
            Value seen = g.input("seen", TensorType.of(DType.F16, 1, 1, 1, tokens));
            Value y = norm(g, x);
            Value packed = g.reshape(linear(g, y, HIDDEN, 3 * HIDDEN), 1, tokens, 3, 2, 32);
            Value mask = g.mul(g.add(seen, -1), 1000);
            Value mixed = g.add(new PlainAttention(true, true, 0.2, false), packed, mask);
            y = norm(g, g.add(linear(g, g.reshape(mixed, 1, tokens, HIDDEN), HIDDEN, HIDDEN), y));
            Value wide = g.gelu(linear(g, y, HIDDEN, INNER));
            g.output("y", g.cast(norm(g, g.add(linear(g, wide, INNER, HIDDEN), y)), DType.F32));
        });
        // products of so few rows do not norm them
        Compiler compiler = new Compiler(
                options, node -> !(node.op() instanceof NormedMatMul || node.op() instanceof ProjectedAttention));
        return Planned.plan(graph, compiler);
    }

    private static Value linear(GraphBuilder g, Value x, long from, long to) {
        return g.add(g.matmul(x, weight(g, from, to)), weight(g, to));
    }

    private static Value norm(GraphBuilder g, Value x) {
        return g.layerNorm(x, weight(g, HIDDEN), weight(g, HIDDEN), 1e-5);
    }

    private static Value weight(GraphBuilder g, long... sizes) {
        return g.constant(Tensor.zeros(TensorType.of(DType.F16, sizes)));
    }

    private static ResidentSegment segment(long tokens) {
        return segment(tokens, CompilerOptions.defaults());
    }

    private static ResidentSegment segment(long tokens, CompilerOptions options) {
        List<ResidentSegment> all = new ResidentSegments(plan(tokens, options)).all();
        assertThat(all).hasSize(1);
        return all.getFirst();
    }

    @Test
    void layerIsOneSegmentBehindItsMask() {
        ResidentSegment segment = segment(16);
        assertThat(segment.members()).hasSize(8); // the last norm makes f32 itself
        assertThat(segment.position()).isGreaterThan(segment.members().getFirst());
        assertThat(segment.inside()).hasSize(7);
    }

    @Test
    void castBehindTheLastNormMakesNoOtherPhases() {
        ResidentSegment fused = segment(16);
        ResidentSegment apart = segment(16, CompilerOptions.defaults().withSkip(Set.of("fuse-row-regions")));
        assertThat(apart.members()).hasSize(9);
        assertThat(apart.inside()).hasSize(8);
        assertThat(fused.dtype()).isEqualTo(DType.F16);
        assertThat(apart.dtype()).isEqualTo(DType.F16);
        assertThat(fused.phases().stream().map(ResidentPhase::sizes).toList())
                .isEqualTo(apart.phases().stream().map(ResidentPhase::sizes).toList());
        assertThat(fused.phases().getLast().at().y().dtype()).isEqualTo(DType.F32);
    }

    @Test
    void productsMakeNormsAndShortAttentionByThemselves() {
        assertThat(segment(16).phases().stream().map(ResidentPhase::source))
                .containsExactly(Rows.NORM, Rows.ATTENTION, Rows.NORM, Rows.PLAIN, Rows.PLAIN);
        assertThat(segment(17).phases().stream().map(ResidentPhase::kind))
                .containsExactly(Kind.PRODUCT, Kind.ATTENTION, Kind.PRODUCT, Kind.PRODUCT, Kind.PRODUCT, Kind.NORM);
    }

    @Test
    void normsThatOthersReadAreStored() {
        List<ResidentPhase> phases = segment(16).phases();
        assertThat(phases.get(0).at().normed()).isNotNull();
        assertThat(phases.get(2).at().normed()).isNotNull();
        assertThat(phases.getLast().sizes().wide()).isTrue();
    }

    @Test
    void everyColumnTileHasOnePart() {
        for (long tokens : new long[] {1, 16, 17, 100, 256}) {
            ResidentSegment segment = segment(tokens);
            ResidentPlan plan = ResidentPlan.of(segment, device(9, true));
            assertThat(plan.blocks()).isLessThanOrEqualTo(132);
            for (int i = 0; i < segment.phases().size(); i++) {
                ResidentPhase phase = segment.phases().get(i);
                if (phase.kind() == Kind.PRODUCT) {
                    ResidentPlan.Spread spread = plan.spreads().get(i);
                    assertThat((long) spread.least() * plan.parts() + spread.more())
                            .isEqualTo(phase.sizes().n() / 8);
                    assertThat(spread.round()).isBetween(1, 16);
                }
            }
        }
    }

    @Test
    void weightsOfTwoRoundsFitAtATime() {
        for (long tokens : new long[] {1, 16, 17, 100, 256}) {
            ResidentSegment segment = segment(tokens);
            ResidentPlan plan = ResidentPlan.of(segment, device(9, true));
            assertThat(plan.weights() + 2 * plan.half()).isLessThanOrEqualTo(plan.sharedBytes());
            for (int i = 0; i < segment.phases().size(); i++) {
                ResidentPhase phase = segment.phases().get(i);
                if (phase.kind() == Kind.PRODUCT) {
                    ResidentPlan.Spread spread = plan.spreads().get(i);
                    assertThat(spread.round() * 8 * (phase.sizes().k() * 2 + 64))
                            .isLessThanOrEqualTo(plan.half());
                    assertThat(spread.round() * (16 >> spread.ways()) * 512)
                            .isLessThanOrEqualTo(plan.weights() - plan.cells());
                }
            }
        }
    }

    @Test
    void deviceThatCannotIsRefusedWithTheReason() {
        assertThat(ResidentPlan.refusal(segment(16), device(9, true))).isEmpty();
        assertThat(ResidentPlan.refusal(segment(16), device(7, true))).contains("less than 8.0");
        assertThat(ResidentPlan.refusal(segment(16), device(9, false))).contains("cooperative");
    }

    @Test
    void longSequencesAreLeftToOtherSteps() {
        assertThat(new ResidentSegments(plan(257, CompilerOptions.defaults())).all())
                .allSatisfy(segment -> assertThat(segment.phases()).noneMatch(phase -> phase.kind() == Kind.ATTENTION));
    }
}
