package dev.tenon.cli.cases;

import static dev.tenon.cli.cases.Cpu.f32;
import static dev.tenon.cli.cases.Cpu.i64;
import static dev.tenon.cli.cases.Cpu.sizes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DataException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.CumulativeFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class IndexingCasesTest {
    private static final Tensor DATA = f32(10, 20, 30);

    @Test
    @DisplayName("GA-01 indices from the back, none, and along the last axis")
    void gather() {
        for (Tensor indices : List.of(i64(-1, -3, 1), Tensor.of(new int[] {-1, -3, 1}, 3))) {
            Cpu.check(new Gather(0), List.of(DATA, indices), y -> Cpu.exactly(y, sizes(3), 30, 10, 20));
        }
        Cpu.check(new Gather(0), List.of(DATA, i64()), y -> Cpu.exactly(y, sizes(0)));
        Cpu.check(
                (g, x) -> List.of(g.gather(x.get(0), x.get(1), -1)),
                List.of(f32(sizes(2, 3), 1, 2, 3, 4, 5, 6), i64(-1, 0)),
                y -> Cpu.exactly(y.getFirst(), sizes(2, 2), 3, 1, 6, 4));
    }

    @ParameterizedTest
    @ValueSource(longs = {3, -4, 4294967295L})
    @DisplayName("GA-01 an index out of range is an error that names it and the axis")
    void gatherOutOfRange(long index) {
        Cpu.fails(Cpu.op(new Gather(0)), List.of(DATA, i64(index)), DataException.class, "index " + index, "axis 0");
    }

    @Test
    @DisplayName("SA-01 sums are in index order, whatever the threads")
    void scatterInOrder() {
        ScatterElements add = new ScatterElements(0, ScatterFn.ADD);
        List<Tensor> inputs = List.of(f32(0), i64(0, 0, 0, 0), f32(1e8, 1, -1e8, 1));
        Cpu.check(add, inputs, y -> Cpu.exactly(y, sizes(1), 1));
        for (int threads = 1; threads <= 16; threads *= 2) {
            try (Engine runtime =
                            Engine.open(Cpu.DEVICE, EngineOptions.defaults().withThreads(threads));
                    CompiledModel model = runtime.compile(Cpu.graph(Cpu.op(add), inputs, false));
                    Session session = model.newSession()) {
                for (int run = 0; run < 100; run++) {
                    Tensor y = session.run(Map.of("x0", inputs.get(0), "x1", inputs.get(1), "x2", inputs.get(2)))
                            .get("y0");
                    Cpu.exactly(y, sizes(1), 1);
                }
            }
        }
    }

    @Test
    @DisplayName("SA-01 a million additions to one element; a thousand in bf16; integers")
    void scatterManyToOne() {
        ScatterElements add = new ScatterElements(0, ScatterFn.ADD);
        Tensor y = Cpu.run(
                        Cpu.op(add),
                        f32(0),
                        Tensor.zeros(DType.I64, 1_000_000),
                        Cpu.filled(TensorType.of(DType.F32, 1_000_000), 1))
                .getFirst();
        Cpu.exactly(y, sizes(1), 1_000_000);
        Cpu.check(
                add,
                List.of(
                        Tensor.zeros(DType.BF16, 1),
                        Tensor.zeros(DType.I64, 1000),
                        Cpu.filled(TensorType.of(DType.BF16, 1000), 1)),
                sum -> Cpu.exactly(sum, sizes(1), 1000));
        Cpu.check(
                add,
                List.of(i64(1L << 60, 5), i64(0, 0, 1), i64(1, 2, -7)),
                sum -> assertThat(sum.toLongs()).containsExactly((1L << 60) + 3, -2));
    }

    @Test
    @DisplayName("SA-01 indices from the back; out of range is an error")
    void scatterIndices() {
        ScatterElements add = new ScatterElements(0, ScatterFn.ADD);
        Tensor zeros = Tensor.zeros(DType.F32, 3);
        Cpu.check(add, List.of(zeros, i64(-1), f32(5)), y -> Cpu.exactly(y, sizes(3), 0, 0, 5));
        for (long index : new long[] {3, -4}) {
            Cpu.fails(Cpu.op(add), List.of(zeros, i64(index), f32(5)), DataException.class, "index " + index);
        }
    }

    private static Op cumsum(int axis, boolean exclusive, boolean reverse) {
        return new Cumulative(CumulativeFn.SUM, axis, exclusive, reverse);
    }

    @ParameterizedTest
    @CsvSource({
        "false,false,'1,3,6,10,15'",
        "true,false,'0,1,3,6,10'",
        "false,true,'15,14,12,9,5'",
        "true,true,'14,12,9,5,0'"
    })
    @DisplayName("CS-01 exclusive and reverse")
    void cumulativeModes(boolean exclusive, boolean reverse, String expected) {
        double[] wanted = java.util.Arrays.stream(expected.split(","))
                .mapToDouble(Double::parseDouble)
                .toArray();
        Cpu.check(cumsum(0, exclusive, reverse), List.of(f32(1, 2, 3, 4, 5)), y -> Cpu.exactly(y, sizes(5), wanted));
    }

    @Test
    @DisplayName("CS-01 an axis of 1, a long one, none, and bytes summed as i32")
    void cumulativeAxes() {
        Cpu.check(cumsum(0, true, true), List.of(f32(sizes(1, 2), 1, 2)), y -> Cpu.exactly(y, sizes(1, 2), 0, 0));
        Tensor ones = Cpu.filled(TensorType.of(DType.I64, 2, 513, 3), 1);
        double[] forward = new double[2 * 513 * 3];
        double[] backward = new double[2 * 513 * 3];
        for (int i = 0; i < forward.length; i++) {
            forward[i] = i / 3 % 513 + 1;
            backward[i] = 512 - i / 3 % 513;
        }
        Cpu.check(cumsum(1, false, false), List.of(ones), y -> Cpu.exactly(y, sizes(2, 513, 3), forward));
        Cpu.check(cumsum(1, true, true), List.of(ones), y -> Cpu.exactly(y, sizes(2, 513, 3), backward));
        Cpu.check(
                (g, x) -> List.of(g.add(cumsum(0, false, false), g.cast(x.getFirst(), DType.I32))),
                List.of(Tensor.of(new byte[] {100, 28, 1}, 3)),
                y -> Cpu.exactly(y.getFirst(), sizes(3), 100, 128, 129));
        Cpu.check(cumsum(1, false, false), List.of(Tensor.zeros(DType.F32, 2, 0)), y -> Cpu.exactly(y, sizes(2, 0)));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5})
    @DisplayName("TK-01 every k is a prefix of one order, the lower index first on ties")
    void topK(int k) {
        double[] values = {5, 5, 4, 2, 1};
        double[] indices = {2, 4, 3, 1, 0};
        Cpu.check(Cpu.op(new TopK(k, 0, true, true)), List.of(f32(1, 2, 5, 4, 5)), y -> {
            Cpu.exactly(y.get(0), sizes(k), java.util.Arrays.copyOf(values, k));
            Cpu.exactly(y.get(1), sizes(k), java.util.Arrays.copyOf(indices, k));
        });
    }

    @Test
    @DisplayName("TK-01 the smallest, one element, a middle axis, k too large")
    void topKForms() {
        Cpu.check(Cpu.op(new TopK(2, 0, false, true)), List.of(f32(3, 1, 1, 2)), y -> {
            Cpu.exactly(y.get(0), sizes(2), 1, 1);
            Cpu.exactly(y.get(1), sizes(2), 1, 2);
        });
        Cpu.check(Cpu.op(new TopK(1, 0, true, true)), List.of(f32(7)), y -> {
            Cpu.exactly(y.get(0), sizes(1), 7);
            Cpu.exactly(y.get(1), sizes(1), 0);
        });
        double[] x = new double[24];
        java.util.Arrays.setAll(x, i -> i * 7 % 5);
        Tensor cube = f32(sizes(2, 3, 4), x);
        Cpu.check(Cpu.op(new TopK(2, 1, true, true)), List.of(cube), y -> {
            assertThat(y.get(0).shape().sizes()).containsExactly(2, 2, 4);
            for (int i = 0; i < 16; i++) {
                int at = i / 8 * 12 + (int) y.get(1).getLong(i) * 4 + i % 4;
                assertThat(y.get(0).getDouble(i)).isEqualTo(x[at]);
            }
            for (int i = 0; i < 4; i++) {
                double[] column = {x[i], x[i + 4], x[i + 8]};
                assertThat(y.get(0).getDouble(i))
                        .isEqualTo(java.util.Arrays.stream(column).max().orElseThrow());
            }
        });
        assertThatThrownBy(() -> Cpu.run(Cpu.op(new TopK(6, 0, true, true)), f32(1, 2, 5, 4, 5)))
                .isInstanceOf(TenonException.class)
                .hasMessageContaining("6");
    }

    private static Cpu.Body concat(int axis) {
        return (g, x) -> List.of(g.concat(x, axis));
    }

    @Test
    @DisplayName("CT-01 empty parts add nothing")
    void concatEmpty() {
        Tensor six = f32(sizes(2, 3), 1, 2, 3, 4, 5, 6);
        Cpu.check(
                concat(0),
                List.of(six, Tensor.zeros(DType.F32, 0, 3)),
                y -> Cpu.exactly(y.getFirst(), sizes(2, 3), 1, 2, 3, 4, 5, 6));
        Cpu.check(
                concat(1),
                List.of(Tensor.zeros(DType.F32, 2, 0), six),
                y -> Cpu.exactly(y.getFirst(), sizes(2, 3), 1, 2, 3, 4, 5, 6));
        Cpu.check(
                concat(0),
                List.of(Tensor.zeros(DType.F32, 0, 3), Tensor.zeros(DType.F32, 0, 3)),
                y -> Cpu.exactly(y.getFirst(), sizes(0, 3)));
    }

    @Test
    @DisplayName("CT-01 ranks that differ and axes that are not there are errors")
    void concatErrors() {
        Tensor six = f32(sizes(2, 3), 1, 2, 3, 4, 5, 6);
        assertThatThrownBy(() -> Cpu.run(concat(0), Tensor.zeros(DType.F32, 0), six))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("concat");
        assertThatThrownBy(() -> Cpu.run(concat(999), six, six))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("999");
    }

    @Test
    @DisplayName("CT-01 operations on nothing, and the one after them")
    void emptyOperations() {
        Cpu.check(
                (g, x) -> List.of(
                        g.relu(x.get(0)),
                        g.transpose(x.get(0), 1, 0),
                        g.expand(g.reshape(x.get(0), 1, 0, 5), 3, 0, 5),
                        g.reduce(ReduceFn.SUM, x.get(0), false, 0),
                        g.relu(x.get(1))),
                List.of(Tensor.zeros(DType.F32, 0, 5), f32(-1, 2)),
                y -> {
                    Cpu.exactly(y.get(0), sizes(0, 5));
                    Cpu.exactly(y.get(1), sizes(5, 0));
                    Cpu.exactly(y.get(2), sizes(3, 0, 5));
                    Cpu.exactly(y.get(3), sizes(5), 0, 0, 0, 0, 0);
                    Cpu.exactly(y.get(4), sizes(2), 0, 2);
                });
    }
}
