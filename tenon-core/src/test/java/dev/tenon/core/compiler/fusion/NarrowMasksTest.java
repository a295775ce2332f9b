package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.core.testkit.plan.Planned;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class NarrowMasksTest {
    private static final long KEYS = 5;

    /** How an export makes a mask [2,1,5,5] of what each key is. */
    private enum Spelling {
        /** {@code where(expand(true and seen), 0, -inf)}: scaled_dot_product_attention. */
        CHOSEN,
        /** {@code (1 - expand(f32(seen))) * -1e4}: BERT. */
        COMPUTED,
        /** A mask by query and key, which nothing repeats. */
        WHOLE
    }

    private static Value mask(GraphBuilder g, Spelling spelling) {
        Value seen = g.input("seen", TensorType.of(DType.BOOL, 2, 1, 1, KEYS));
        Expand wide = new Expand(List.of(2L, 1L, KEYS, KEYS));
        return switch (spelling) {
            case CHOSEN -> {
                Value all = g.constant(NdArray.of(TensorType.of(DType.BOOL, 1, 1, KEYS, 1), 1L, 1L, 1L, 1L, 1L)
                        .toConstant());
                Value both = g.add(wide, g.add(new Binary(BinaryFn.AND), all, seen));
                yield g.add(new Where(), both, g.scalar(DType.F32, 0), g.scalar(DType.F32, Double.NEGATIVE_INFINITY));
            }
            case COMPUTED -> {
                Value one = g.sub(g.scalar(DType.F32, 1), g.add(wide, g.add(new Cast(DType.F32, true), seen)));
                yield g.mul(one, g.scalar(DType.F32, -1e4));
            }
            case WHOLE ->
                g.add(new Cast(DType.F32, true), g.input("pairs", TensorType.of(DType.BOOL, 2, 1, KEYS, KEYS)));
        };
    }

    @ParameterizedTest
    @EnumSource
    void masksLoseWhatAttentionRepeats(Spelling spelling) {
        Graph graph = GraphBuilder.build("masked", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 2, KEYS, 3, 4));
            g.output(
                    "y",
                    g.add("", new PlainAttention(true, false, 0.5, true), List.of(x, x, x, mask(g, spelling)))
                            .getFirst());
        });
        Graph planned = Planned.graph(graph, node -> true);
        Shape mask = planned.nodes().stream()
                .filter(node -> node.op() instanceof PlainAttention)
                .findFirst()
                .orElseThrow()
                .inputs()
                .getLast()
                .shape();
        assertThat(mask).as("%s", planned).isEqualTo(Shape.of(2, 1, spelling == Spelling.WHOLE ? KEYS : 1, KEYS));
        NdArray seen = NdArray.of(TensorType.of(DType.BOOL, 2, 1, 1, KEYS), 1L, 1L, 0L, 1L, 0L, 0L, 0L, 0L, 0L, 0L);
        NdArray pairs = NdArray.zeros(DType.BOOL, 2, 1, KEYS, KEYS);
        pairs.set(3, 1L);
        Map<String, NdArray> inputs = new HashMap<>();
        inputs.put("x", new Seeded(4).array(DType.F32, 2, KEYS, 3, 4));
        inputs.put("seen", seen);
        if (spelling == Spelling.WHOLE) {
            inputs.put("pairs", pairs);
        }
        assertThat(Interpreter.run(planned, inputs).get("y").toDoubles())
                .containsExactly(Interpreter.run(graph, inputs).get("y").toDoubles(), within(1e-6));
    }
}
