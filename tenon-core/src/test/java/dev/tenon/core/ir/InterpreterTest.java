package dev.tenon.core.ir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.testkit.Seeded;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class InterpreterTest {
    @Test
    void resolvesShapeArithmetic() {
        Graph graph = GraphBuilder.build("flatten", g -> {
            Value x = g.input("x", DType.F32, Dim.named("batch"), Dim.of(2), Dim.of(3));
            Value batch = g.add(new ShapeOf(0, 1), x);
            Value sizes = g.concat(List.of(batch, g.constant(NdArray.ofLongs(-1).toConstant())), 0);
            g.output("y", g.add(new ReshapeTo(false), x, sizes));
        });
        NdArray x = new Seeded(1).array(DType.F32, 5, 2, 3);
        NdArray y = Interpreter.run(graph, Map.of("x", x)).sequencedValues().getFirst();
        assertThat(y.shape()).isEqualTo(Shape.of(5, 6));
        assertThat(y.toDoubles()).containsExactly(x.toDoubles());
    }

    @Test
    void bindsNamedDims() {
        Graph graph = GraphBuilder.build("sum", g -> {
            Value a = g.input("a", DType.F32, Dim.named("n"));
            Value b = g.input("b", DType.F32, Dim.named("n"));
            g.output("y", g.add(a, b));
        });
        NdArray two = NdArray.zeros(DType.F32, 2);
        assertThat(Interpreter.run(graph, Map.of("a", two, "b", two))
                        .sequencedValues()
                        .getFirst()
                        .shape())
                .isEqualTo(Shape.of(2));
        assertThatThrownBy(() -> Interpreter.run(graph, Map.of("a", two, "b", NdArray.zeros(DType.F32, 1))))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("expected dim n = 2");
    }

    @Test
    void namesWhatIsMissingOrDoesNotFit() {
        Graph graph = GraphBuilder.build("identity", g -> g.output("y", g.input("x", DType.F32, Dim.of(2))));
        assertThatThrownBy(() -> Interpreter.run(graph, Map.of()))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("%x: f32[2]");
        assertThatThrownBy(() -> Interpreter.run(graph, Map.of("x", NdArray.zeros(DType.F16, 2))))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("is f16[2]; expected f32[2]");
    }

    @Test
    void faultsNameTheirNode() {
        Graph graph = GraphBuilder.build("lookup", g -> {
            Value table = g.parameter("table", DType.F32, 3, 2);
            Value ids = g.input("ids", DType.I64, Dim.of(1));
            g.output(
                    "y",
                    g.add("/embed", new dev.tenon.core.ir.op.indexing.Gather(0), List.of(table, ids))
                            .getFirst());
        });
        Map<String, NdArray> given = Map.of("table", NdArray.zeros(DType.F32, 3, 2), "ids", NdArray.ofLongs(3));
        assertThatThrownBy(() -> Interpreter.run(graph, given))
                .isInstanceOf(DataException.class)
                .hasMessage("gather: index 3 is out of range for axis 0 of size 3; expected -3 to 2 (node \"/embed\")");
    }
}
