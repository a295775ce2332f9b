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
import dev.tenon.core.options.Precision;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.plan.Planned;
import dev.tenon.cuda.lower.resident.LayersPlan.Cut;
import dev.tenon.cuda.lower.step.WeightOrder.Fragments;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.DeviceProperties;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which segments are layers of an encoder, and how these are spread, decided without a device. */
class LayersPlanTest {
    /**
     * An encoder.
     *
     * @param normed whether the first layer begins with a norm
     */
    private record Model(
            DType dtype, long batch, long tokens, long hidden, long inner, long head, int layers, boolean normed) {
        static Model miniLm(DType dtype, long batch, long tokens) {
            return new Model(dtype, batch, tokens, 384, 1536, 32, 6, false);
        }
    }

    private static DeviceProperties device(int multiprocessors) {
        return new DeviceProperties(
                0,
                "none",
                new Architecture(9, 0),
                multiprocessors,
                80L << 30,
                48 << 10,
                227 << 10,
                228 << 10,
                65536,
                2048,
                50 << 20,
                true);
    }

    private static final DeviceProperties H200 = device(132);

    /** The weights of a model, made once: their elements do not matter. */
    private static final Map<List<Long>, Tensor> WEIGHTS = new HashMap<>();

    private static Plan plan(Model model) {
        Graph graph = GraphBuilder.build("encoder", g -> {
            long hidden = model.hidden;
            Value x = g.input("x", TensorType.of(model.dtype, model.batch, model.tokens, hidden));
            Value mask = g.input("mask", TensorType.of(model.dtype, model.batch, 1, 1, model.tokens));
            Value y = model.normed ? norm(g, x, model) : x;
            for (int layer = 0; layer < model.layers; layer++) {
                Value packed = g.reshape(
                        linear(g, y, hidden, 3 * hidden, model),
                        model.batch,
                        model.tokens,
                        3,
                        hidden / model.head,
                        model.head);
                Value mixed = g.add(new PlainAttention(true, true, 0.2, false), packed, mask);
                Value seen = g.reshape(mixed, model.batch, model.tokens, hidden);
                y = norm(g, g.add(linear(g, seen, hidden, hidden, model), y), model);
                Value wide = g.gelu(linear(g, y, hidden, model.inner, model));
                y = norm(g, g.add(linear(g, wide, model.inner, hidden, model), y), model);
            }
            g.output("y", y);
        });
        Compiler compiler = new Compiler(
                CompilerOptions.defaults(),
                node -> !(node.op() instanceof NormedMatMul || node.op() instanceof ProjectedAttention));
        return Planned.plan(graph, compiler);
    }

    private static Value linear(GraphBuilder g, Value x, long from, long to, Model model) {
        return g.add(g.matmul(x, weight(g, model, from, to)), weight(g, model, to));
    }

    private static Value norm(GraphBuilder g, Value x, Model model) {
        return g.layerNorm(x, weight(g, model, model.hidden), weight(g, model, model.hidden), 1e-5);
    }

    private static Value weight(GraphBuilder g, Model model, long... sizes) {
        TensorType type = TensorType.of(model.dtype, sizes);
        List<Long> key = List.of((long) model.dtype.ordinal(), sizes[0], sizes[sizes.length - 1], (long) sizes.length);
        return g.constant(WEIGHTS.computeIfAbsent(key, _ -> Tensor.zeros(type)));
    }

    private static EncoderLayers encoder(Model model) {
        List<ResidentSegment> all = new ResidentSegments(plan(model)).all();
        assertThat(all).hasSize(1);
        return Objects.requireNonNull(EncoderLayers.of(all.getFirst()));
    }

    private static String refusal(Model model, DeviceProperties device) {
        return LayersPlan.refusal(encoder(model), model.dtype, device);
    }

    private static List<String> tiers(Model model) {
        Plan plan = plan(model);
        ResidentLowering lowering = ResidentLowering.of(plan, H200, Precision.FAST);
        return IntStream.range(0, plan.work().size())
                .filter(lowering::launches)
                .mapToObj(index -> lowering.packs(index) ? "layers" : "phases")
                .toList();
    }

    @Test
    void encoderIsItsLayers() {
        for (long tokens : new long[] {7, 16, 40}) {
            for (boolean normed : new boolean[] {false, true}) {
                Model model = new Model(DType.F16, 1, tokens, 128, 512, 32, 3, normed);
                EncoderLayers encoder = encoder(model);
                assertThat(encoder.layers()).hasSize(3);
                assertThat(encoder.shape()).isEqualTo(new EncoderLayers.Shape(tokens, tokens, 128, 512, 4, 32));
                assertThat(encoder.before() != null).isEqualTo(normed);
                assertThat(encoder.layers())
                        .allSatisfy(layer -> assertThat(layer.activation()).isNotNull());
            }
        }
    }

    @Test
    void modelOfTimeChoosesAForm() {
        assertThat(tiers(Model.miniLm(DType.F16, 1, 16))).containsExactly("layers");
        assertThat(tiers(Model.miniLm(DType.F16, 1, 128))).containsExactly("layers");
        assertThat(tiers(Model.miniLm(DType.F16, 8, 16))).containsExactly("layers");
        assertThat(tiers(Model.miniLm(DType.F32, 1, 16))).containsExactly("phases");
        assertThat(tiers(Model.miniLm(DType.F32, 1, 128))).containsExactly("layers");
        assertThat(tiers(Model.miniLm(DType.F32, 8, 16))).containsExactly("layers");
    }

    @Test
    void refusalsSayWhy() {
        assertThat(refusal(Model.miniLm(DType.F16, 1, 128), H200)).isEmpty();
        assertThat(refusal(Model.miniLm(DType.F16, 1, 128), device(114))).contains("128 blocks; the device holds 114");
        assertThat(refusal(Model.miniLm(DType.F16, 3, 20), H200)).contains("several sequences of 20 tokens");
        assertThat(refusal(Model.miniLm(DType.F16, 1, 129), H200)).contains("129 tokens; it takes at most 128");
        assertThat(refusal(new Model(DType.F16, 1, 16, 64, 512, 32, 1, false), H200))
                .contains("64 columns");
        assertThat(refusal(new Model(DType.F16, 1, 16, 128, 256, 32, 1, false), H200))
                .contains("256 columns");
        assertThat(refusal(new Model(DType.F32, 1, 16, 384, 1536, 32, 12, false), H200))
                .contains("L2 has");
        assertThat(refusal(new Model(DType.F16, 1, 16, 128, 512, 32, 27, false), H200))
                .contains("27 layers");
    }

    @Test
    void oneTileIsSoonestByBlocksWithRoles() {
        Model model = Model.miniLm(DType.F16, 1, 16);
        EncoderLayers encoder = encoder(model);
        TilePlan plan = TilePlan.of(encoder, model.dtype);
        assertThat(plan.microseconds())
                .isLessThan(LayersPlan.of(encoder, model.dtype).microseconds() - 25);
        assertThat(plan.launch().gridX()).as("heads, parts and rows").isEqualTo(12 + 24 + 16);
        assertThat(plan.wordBytes()).isEqualTo(16L * 384 * (2 + 6 * ((12 + 24) * 4 + 2 * 2)));
        TilePlan two = TilePlan.of(encoder(Model.miniLm(DType.F16, 2, 7)), DType.F16);
        assertThat(two.launch().gridX()).isEqualTo(2 * (12 + 24 + 7));
        assertThat(two.wordBytes()).isEqualTo(2 * plan.wordBytes());
        assertThat(TilePlan.of(encoder(Model.miniLm(DType.F16, 1, 3)), DType.F16)
                        .launch()
                        .gridX())
                .isEqualTo(12 + 24 + 3);
    }

    @Test
    void ordersOfOneTileCoverEachProductOnce() {
        for (Model model : List.of(
                Model.miniLm(DType.F16, 1, 16),
                new Model(DType.BF16, 1, 5, 256, 192, 64, 1, true),
                new Model(DType.F16, 1, 1, 512, 2048, 32, 2, false))) {
            EncoderLayers encoder = encoder(model);
            TilePlan plan = TilePlan.of(encoder, model.dtype);
            List<Long> sizes = List.of(
                    3 * model.hidden * model.hidden,
                    model.hidden * model.hidden,
                    model.hidden * model.inner,
                    model.hidden * model.inner);
            List<Fragments> orders = plan.orders(encoder.layers().getFirst());
            for (int i = 0; i < orders.size(); i++) {
                Fragments order = orders.get(i);
                assertThat((long) order.items() * order.n() * order.k()).isEqualTo(sizes.get(i));
                assertThat(order.n()).as("one round").isEqualTo(order.groups() * order.tiles() * 8);
                assertThat(order.k() % (order.splits() * 32)).isZero();
            }
            assertThat(TilePlan.refusal(encoder, model.dtype, H200)).isEmpty();
            assertThat(plan.launch().sharedBytes()).isLessThanOrEqualTo(227 << 10);
        }
    }

    private static String tileRefusal(Model model, DeviceProperties device) {
        return TilePlan.refusal(encoder(model), model.dtype, device);
    }

    @Test
    void refusalsOfOneTileSayWhy() {
        assertThat(tileRefusal(Model.miniLm(DType.F32, 1, 16), H200)).contains("16 bits");
        assertThat(tileRefusal(Model.miniLm(DType.F16, 1, 17), H200)).contains("17 tokens");
        assertThat(tileRefusal(Model.miniLm(DType.F16, 2, 8), H200)).isEmpty();
        assertThat(tileRefusal(Model.miniLm(DType.F16, 3, 16), H200)).contains("156 blocks; the device holds 132");
        assertThat(tileRefusal(Model.miniLm(DType.F16, 1, 16), device(51))).contains("52 blocks; the device holds 51");
        assertThat(tileRefusal(new Model(DType.F16, 1, 16, 64, 512, 32, 1, false), H200))
                .contains("64 columns");
        assertThat(tileRefusal(new Model(DType.F16, 1, 16, 640, 512, 32, 1, false), H200))
                .contains("640 columns");
        assertThat(tileRefusal(new Model(DType.F16, 1, 16, 128, 96, 32, 1, false), H200))
                .contains("96 columns");
        assertThat(tileRefusal(new Model(DType.F16, 1, 16, 384, 1536, 64, 1, false), H200))
                .contains("24 pieces");
        assertThat(tileRefusal(new Model(DType.F16, 1, 16, 128, 512, 32, 27, false), H200))
                .contains("27 layers");
    }

    @Test
    void cutsAndOrdersCoverEachProductOnce() {
        List<Model> models = List.of(
                Model.miniLm(DType.F16, 1, 16),
                Model.miniLm(DType.F32, 1, 100),
                new Model(DType.F16, 1, 16, 768, 3072, 64, 1, false),
                new Model(DType.BF16, 2, 32, 512, 2048, 64, 1, true),
                new Model(DType.F16, 1, 5, 256, 1024, 32, 1, false),
                new Model(DType.F32, 1, 16, 128, 512, 64, 1, false));
        for (Model model : models) {
            EncoderLayers encoder = encoder(model);
            LayersPlan plan = LayersPlan.of(encoder, model.dtype);
            List<Fragments> orders = plan.orders(encoder.layers().getFirst());
            List<Long> sizes = List.of(
                    3 * model.hidden * model.hidden,
                    model.hidden * model.hidden,
                    model.hidden * model.inner,
                    model.hidden * model.inner);
            int chunk = 64 / model.dtype.bytes();
            for (int i = 0; i < orders.size(); i++) {
                Fragments order = orders.get(i);
                Cut cut = plan.cuts().get(i);
                assertThat((long) order.items() * order.n() * order.k()).isEqualTo(sizes.get(i));
                assertThat(cut.rounds() * order.groups() * order.tiles() * 8).isEqualTo(order.n());
                assertThat(cut.chunks() * cut.batches() * cut.splits() * chunk).isEqualTo(order.k());
                assertThat(cut.chunks()).isBetween(1, 4);
                assertThat(order.groups() * cut.splits()).isLessThanOrEqualTo(8);
            }
            assertThat(plan.sharedBytes()).isLessThanOrEqualTo(227 << 10);
            assertThat(plan.launch().gridX()).isEqualTo(16 * (int) Math.ceilDiv(model.batch * model.tokens, 16L));
        }
    }
}
