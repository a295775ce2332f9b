package dev.tenon.core.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.control.Loop;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which loops become part of the plan around them. */
class UnrollTest {
    private static final TensorType COUNT = TensorType.of(DType.I64);

    private static Graph body(Graph inner) {
        return GraphBuilder.build("body", g -> {
            Value i = g.input("i", COUNT);
            Value go = g.input("go", TensorType.of(DType.BOOL));
            Value x = g.input("x", COUNT);
            Value next = inner == null ? g.add(x, i) : loop(g, inner, x);
            g.output("go", go);
            g.output("x", next);
        });
    }

    private static Value loop(dev.tenon.core.build.Ops g, Graph body, Value x) {
        Value times = g.constant(NdArray.of(COUNT, 8L).toConstant());
        Value go = g.constant(NdArray.of(TensorType.of(DType.BOOL), 1L).toConstant());
        return g.addAll(new Loop(body, 1), List.of(times, go, x)).getFirst();
    }

    private static Stage plan(Graph body) {
        Graph graph = GraphBuilder.build("g", g -> g.output("y", loop(g, body, g.input("x", COUNT))));
        Compiler compiler = new Compiler(CompilerOptions.defaults(), node -> false);
        return compiler.plan(compiler.prepare(graph, Map.of()), Map.of("x", COUNT), Map.of());
    }

    @Test
    void aShortLoopIsWrittenOut() {
        assertThat(plan(body(null)).rest()).isNull();
    }

    /** Eight times eight times ...: written out, thirty of them would be more nodes than there are atoms. */
    @Test
    @Timeout(30)
    void loopsInLoopsAreNot() {
        Graph nested = body(null);
        for (int depth = 0; depth < 30; depth++) {
            nested = body(nested);
        }
        Stage stage = plan(nested);
        assertThat(stage.rest()).isNotNull();
        assertThat(stage.rest().loops()).hasSize(1);
    }
}
