package dev.tenon.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.op.control.Loop;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Scan outputs of loops under a memory limit: those whose number of turns is known, and those that grow until a
 * condition fails.
 */
class ScanMemoryTest {
    private static final long LIMIT = 1 << 20;

    /** Counts a vector up; ends before {@code turns} turns where the body's own condition says so. */
    private static Graph counting(boolean conditional) {
        Graph body = GraphBuilder.build("body", g -> {
            Value i = g.input("i", DType.I64);
            Value going = g.input("going", DType.BOOL);
            Value x = g.input("x", DType.F32, Dim.of(1000));
            Value last = g.input("last", DType.I64);
            Value next = g.add(x, g.scalar(DType.F32, 1));
            g.output("condition", conditional ? g.compare(CompareFn.LT, i, last) : going);
            g.output("next", next);
            g.output("each", next);
        });
        return GraphBuilder.build("counting", g -> {
            Value turns = g.input("turns", DType.I64);
            Value going = g.input("going", DType.BOOL);
            Value x = g.input("x", DType.F32, Dim.of(1000));
            Value last = g.input("last", DType.I64);
            List<Value> results = g.addAll(new Loop(body, 1), List.of(turns, going, x, last));
            g.output("y", results.get(0));
            g.output("all", results.get(1));
        });
    }

    private static Tensor number(long value) {
        return Tensor.of(new long[] {value});
    }

    private static Map<String, Tensor> run(Graph graph, long turns, long last) {
        try (Engine runtime = Engine.open(
                        Target.cpu(), EngineOptions.defaults().withThreads(1).withMemoryLimit(LIMIT));
                CompiledModel model = runtime.compile(graph);
                Session session = model.newSession()) {
            return session.run(Map.of(
                    "turns", number(turns),
                    "going", Tensor.of(new boolean[] {true}),
                    "x", Tensor.zeros(DType.F32, 1000),
                    "last", number(last)));
        }
    }

    @Test
    @Timeout(60)
    void knownTurnsAreRefusedBeforeTheFirst() {
        assertThatThrownBy(() -> run(counting(false), 1L << 40, 0))
                .isInstanceOf(OutOfMemoryException.class)
                .hasMessageContainingAll("loop", "1099511627776 iterations", "memory limit is " + LIMIT);
        assertThatThrownBy(() -> run(counting(false), Long.MAX_VALUE, 0)).isInstanceOf(OutOfMemoryException.class);
    }

    @Test
    @Timeout(60)
    void growingScansStopAtTheLimit() {
        assertThatThrownBy(() -> run(counting(true), Long.MAX_VALUE, Long.MAX_VALUE))
                .isInstanceOf(OutOfMemoryException.class)
                .hasMessageContaining("memory limit is " + LIMIT);
    }

    @Test
    void scansThatFitAreWhole() {
        for (boolean conditional : new boolean[] {false, true}) {
            for (long turns : new long[] {0, 1, 2, 3, 9, 100}) {
                Map<String, Tensor> results = run(counting(conditional), conditional ? 1L << 40 : turns, turns - 1);
                // a condition is looked at after a turn
                long ran = conditional ? Math.max(1, turns) : turns;
                Tensor all = results.get("all");
                assertThat(all.shape().sizes()).containsExactly(ran, 1000);
                for (long turn = 0; turn < ran; turn++) {
                    assertThat(all.getDouble(turn * 1000 + 7)).isEqualTo(turn + 1);
                }
                assertThat(results.get("y").getDouble(999)).isEqualTo(ran);
            }
        }
    }
}
