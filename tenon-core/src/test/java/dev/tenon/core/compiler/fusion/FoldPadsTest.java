package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.rewrite.DeadCode;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.PadMode;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.core.testkit.Seeded;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FoldPadsTest {
    private static final TensorType IMAGES = TensorType.of(DType.F32, 2, 3, 5, 6);
    private static final PassContext NOTHING = new PassContext(PassContext.CLAIMS_NOTHING, null);

    private static Graph folded(Graph graph) {
        return new DeadCode().apply(new FoldPads().apply(graph, NOTHING), NOTHING);
    }

    /** A convolution of a padded value. */
    private static Graph padded(Pad pad, Conv conv, double fill, double weight) {
        Seeded random = new Seeded(5);
        return GraphBuilder.build("padded", g -> {
            Value x = g.input("x", IMAGES);
            Value y = g.add(
                    pad,
                    x,
                    g.constant(NdArray.of(TensorType.of(DType.F32), fill).toConstant()));
            NdArray w = random.array(DType.F32, 4, 3, 2, 3);
            w.set(7, weight);
            g.output("y", g.add(conv, y, g.constant(w.toConstant())));
        });
    }

    private static Pad pad(PadMode mode, long... amounts) {
        return new Pad(
                mode,
                List.of(amounts[0], amounts[1], amounts[2], amounts[3]),
                List.of(amounts[4], amounts[5], amounts[6], amounts[7]));
    }

    private static Conv conv(List<Long> strides, List<Long> before, List<Long> after) {
        return new Conv(strides, before, after, List.of(1L, 1L), 1, Epilogue.NONE);
    }

    @Test
    void padsAddUp() {
        Conv conv = conv(List.of(1L, 2L), List.of(1L, 0L), List.of(0L, 1L));
        Graph graph = padded(pad(PadMode.CONSTANT, 0, 0, 1, 2, 0, 0, 0, 3), conv, 0, 1);
        assertThat(graph.toString()).contains("= pad(", "pads_before=[1, 0], pads_after=[0, 1]");
        assertThat(folded(graph).toString())
                .contains("pads_before=[2, 2], pads_after=[0, 4]")
                .doesNotContain("= pad(");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "a fill that is not zero, 0, 0.5, 1",
        "weights that are not finite, 0, 0, Infinity",
        "weights that are not numbers, 0, 0, NaN",
        "padded channels, 1, 0, 1"
    })
    void othersStayAsTheyAre(String what, long channels, double fill, double weight) {
        Conv conv = conv(List.of(1L, 1L), List.of(1L, 0L), List.of(0L, 1L));
        Pad pad = channels == 0
                ? pad(PadMode.CONSTANT, 0, 0, 1, 1, 0, 0, 1, 1)
                : pad(PadMode.CONSTANT, 0, 1, 0, 0, 0, -1, 0, 0);
        Graph graph = padded(pad, conv, fill, weight);
        assertThat(new FoldPads().apply(graph, NOTHING)).as(what).isSameAs(graph);
    }

    @Test
    void modesThatCopyAndCropsStay() {
        Conv conv = conv(List.of(1L, 1L), List.of(0L, 0L), List.of(0L, 0L));
        for (Pad pad :
                List.of(pad(PadMode.EDGE, 0, 0, 1, 1, 0, 0, 1, 1), pad(PadMode.CONSTANT, 0, 0, -1, 1, 0, 0, 1, 1))) {
            Graph graph = padded(pad, conv, 0, 1);
            assertThat(new FoldPads().apply(graph, NOTHING)).isSameAs(graph);
        }
    }

    @Test
    void drawnGraphsKeepTheirResults() {
        int folds = 0;
        for (int seed = 0; seed < 200; seed++) {
            Graph graph = drawn(seed);
            Graph after = folded(graph);
            folds += after.toString().contains("= pad(") ? 0 : 1;
            Map<String, NdArray> inputs = Map.of("x", new Seeded(seed).array(DType.F32, 2, 3, 5, 6));
            Tolerance.of(DType.F32, 100)
                    .check(
                            "seed " + seed,
                            Interpreter.run(graph, inputs).get("y"),
                            Interpreter.run(after, inputs).get("y"));
        }
        assertThat(folds).isBetween(50, 190);
    }

    /** A pad of any mode, then a convolution or a pool. */
    private static Graph drawn(int seed) {
        Random draw = new Random(seed * 0x9E3779B97F4A7C15L);
        Seeded random = new Seeded(seed);
        PadMode mode = draw.nextInt(4) == 0 ? PadMode.EDGE : PadMode.CONSTANT;
        Pad pad = pad(mode, 0, 0, draw.nextInt(3), draw.nextInt(3), 0, 0, draw.nextInt(3), draw.nextInt(3));
        List<Long> strides = List.of(1L + draw.nextInt(2), 1L + draw.nextInt(2));
        List<Long> before = List.of((long) draw.nextInt(2), (long) draw.nextInt(2));
        List<Long> after = List.of((long) draw.nextInt(2), (long) draw.nextInt(2));
        return GraphBuilder.build("drawn", g -> {
            Value x = g.add(pad, g.input("x", IMAGES));
            if (draw.nextBoolean()) {
                Value w = g.constant(random.array(DType.F32, 4, 3, 2, 3).toConstant());
                g.output("y", g.add(conv(strides, before, after), x, w));
            } else {
                PoolFn fn = PoolFn.values()[draw.nextInt(3)];
                g.output(
                        "y",
                        g.add(
                                new Pool(
                                        fn,
                                        List.of(2L, 2L),
                                        strides,
                                        before,
                                        after,
                                        List.of(1L, 1L),
                                        draw.nextInt(3) == 0,
                                        draw.nextBoolean(),
                                        2),
                                x));
            }
        });
    }
}
