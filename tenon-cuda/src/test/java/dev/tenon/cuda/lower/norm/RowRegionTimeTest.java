package dev.tenon.cuda.lower.norm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.RowRegion;
import dev.tenon.core.ir.op.normalisation.Softmax;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RowRegionTimeTest {
    private static final Primitive NORM = new LayerNorm(1, 1e-5, false, false);

    private static Region steps(int count, Elementwise op) {
        List<Region.Step> steps = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int last = i == 0 ? 0 : 1 + i;
            steps.add(new Region.Step(op, op.arity().min() == 1 ? List.of(last) : List.of(last, 1)));
        }
        return new Region(steps, List.of(count - 1));
    }

    private static boolean pays(Region before, long rows, long cols) {
        List<TensorType> inputs = List.of(TensorType.of(DType.F32, rows, cols), TensorType.of(DType.F32, rows, cols));
        return RowRegionTime.pays(new RowRegion(2, before, NORM, null), inputs, inputs.getFirst());
    }

    private static boolean claims(RowRegion op, TensorType... inputs) {
        GraphBuilder g = new GraphBuilder("one");
        List<Value> values = new ArrayList<>();
        for (TensorType type : inputs) {
            values.add(g.input("in" + values.size(), type));
        }
        Value result = g.add("it", op, values).getFirst();
        return result.origin() instanceof Value.Origin.Result(Node node, int _)
                && GpuRowRegionLowering.claims(op, node);
    }

    @Test
    void cheapStepsPayAtEverySize() {
        Region sum = steps(2, new Binary(BinaryFn.ADD));
        for (long cols : new long[] {1, 100, 1024, 4096, 16_384}) {
            for (long rows : new long[] {1, 4, 1000, 1_000_000}) {
                assertThat(pays(sum, rows, cols)).as(rows + " x " + cols).isTrue();
            }
        }
    }

    @Test
    void fewLongRowsOfCostlyStepsStayApart() {
        Region costly = steps(20, Unary.of(UnaryFn.TANH));
        assertThat(pays(costly, 1, 16_384)).isFalse();
        assertThat(pays(costly, 1, 1024)).isFalse();
        assertThat(pays(costly, 100_000, 384)).isTrue();
        assertThat(pays(steps(1, Unary.of(UnaryFn.TANH)), 2, 384)).isTrue();
    }

    @Test
    void claimsFromTheSizeThatPaysForACompiler() {
        Region after = steps(1, Unary.of(UnaryFn.TANH));
        RowRegion op = new RowRegion(1, null, new Softmax(1), after);
        assertThat(claims(op, TensorType.of(DType.F32, 32, 1024))).isTrue();
        assertThat(claims(op, TensorType.of(DType.F32, 31, 1024))).isFalse();
    }

    @Test
    void whatTheKernelDoesNotTakeStaysApart() {
        Region after = steps(1, Unary.of(UnaryFn.TANH));
        RowRegion columns = new RowRegion(1, null, new Softmax(0), after);
        assertThat(claims(columns, TensorType.of(DType.F32, 64, 1024))).isFalse();
        RowRegion rows = new RowRegion(1, null, new Softmax(1), after);
        assertThat(claims(rows, TensorType.of(DType.F32, 64, 16_384))).isTrue();
        assertThat(claims(rows, TensorType.of(DType.F32, 64, 16_385))).isFalse();
        assertThat(claims(rows, TensorType.of(DType.F64, 64, 8193))).isFalse();
        RowRegion wider = new RowRegion(
                1,
                null,
                new Softmax(1),
                new Region(List.of(new Region.Step(new Binary(BinaryFn.ADD), List.of(0, 1))), List.of(0)));
        assertThat(claims(wider, TensorType.of(DType.F32, 64, 1024), TensorType.of(DType.F32, 2, 64, 1024)))
                .isFalse();
    }
}
