package dev.tenon.core.ir.op.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.control.Scan;
import dev.tenon.core.ir.op.control.ScanAxis;
import dev.tenon.core.testkit.Seeded;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/**
 * State models against their recurrences, written as scans over ordinary operations; and cut in two, the state handed
 * on.
 */
class StateModelsTest {
    private static final Offset<Double> NEAR = Offset.offset(1e-12);
    private static final long STEPS = 9;
    private final Seeded random = new Seeded(5);

    private static void near(NdArray has, NdArray wanted) {
        assertThat(has.type()).isEqualTo(wanted.type());
        for (int i = 0; i < wanted.size(); i++) {
            assertThat(has.get(i)).isCloseTo(wanted.get(i), NEAR);
        }
    }

    private static Value input(dev.tenon.core.build.GraphBuilder g, String name, NdArray like) {
        return g.input(name, like.type());
    }

    @Test
    void selectiveScanIsItsRecurrence() {
        NdArray x = random.array(DType.F64, 1, STEPS, 4);
        NdArray delta = random.floats(DType.F64, 0.0625, 1, 1, STEPS, 4);
        NdArray a = random.floats(DType.F64, -1, -0.0625, 4, 3);
        NdArray b = random.array(DType.F64, 1, STEPS, 3);
        NdArray c = random.array(DType.F64, 1, STEPS, 3);
        NdArray skip = random.array(DType.F64, 4);
        NdArray state = random.array(DType.F64, 1, 4, 3);
        Graph step = GraphBuilder.build("step", g -> {
            Value h = g.input("h", DType.F64, dims(1, 4, 3));
            Value xt = g.reshape(g.input("x", DType.F64, dims(1, 4)), 1, 4, 1);
            Value dt = g.reshape(g.input("d", DType.F64, dims(1, 4)), 1, 4, 1);
            Value bt = g.reshape(g.input("b", DType.F64, dims(1, 3)), 1, 1, 3);
            Value ct = g.reshape(g.input("c", DType.F64, dims(1, 3)), 1, 1, 3);
            Value at = g.input("a", DType.F64, dims(4, 3));
            Value st = g.input("s", DType.F64, dims(4));
            Value kept = g.mul(g.unary(UnaryFn.EXP, g.mul(dt, at)), h);
            Value next = g.add(kept, g.mul(g.mul(dt, bt), xt));
            Value y = g.reduce(ReduceFn.SUM, g.mul(next, ct), false, 2);
            g.output("h", next);
            g.output("y", g.add(y, g.mul(g.reshape(xt, 1, 4), st)));
        });
        ScanAxis time = new ScanAxis(1, false);
        List<NdArray> wanted = Interpreter.run(
                new Scan(step, List.of(time, time, time, time), List.of(time)),
                List.of(state, x, delta, b, c, a, skip));
        List<NdArray> has = Interpreter.run(new SelectiveScan(true, true), List.of(x, delta, a, b, c, skip, state));
        near(has.get(0), wanted.get(1));
        near(has.get(1), wanted.get(0));
    }

    private static dev.tenon.core.ir.Dim[] dims(long... sizes) {
        return java.util.Arrays.stream(sizes)
                .mapToObj(dev.tenon.core.ir.Dim::of)
                .toArray(dev.tenon.core.ir.Dim[]::new);
    }

    /** S = exp(g) S (I - beta k k^T) + beta v k^T in the paper's form, transposed. */
    @Test
    void gatedDeltaNetIsItsRecurrence() {
        NdArray q = random.array(DType.F64, 1, 2, STEPS, 3);
        NdArray k = random.floats(DType.F64, -0.5, 0.5, 1, 2, STEPS, 3);
        NdArray v = random.array(DType.F64, 1, 2, STEPS, 5);
        NdArray decay = random.floats(DType.F64, -1, -0.0625, 1, 2, STEPS, 1);
        NdArray beta = random.floats(DType.F64, 0.0625, 1, 1, 2, STEPS);
        NdArray state = random.array(DType.F64, 1, 2, 3, 5);
        Graph step = GraphBuilder.build("step", g -> {
            Value s = g.input("s", DType.F64, dims(1, 2, 3, 5));
            Value qt = g.reshape(g.input("q", DType.F64, dims(1, 2, 3)), 1, 2, 1, 3);
            Value kt = g.reshape(g.input("k", DType.F64, dims(1, 2, 3)), 1, 2, 3, 1);
            Value vt = g.reshape(g.input("v", DType.F64, dims(1, 2, 5)), 1, 2, 1, 5);
            Value gt = g.reshape(g.input("g", DType.F64, dims(1, 2, 1)), 1, 2, 1, 1);
            Value bt = g.reshape(g.input("b", DType.F64, dims(1, 2)), 1, 2, 1, 1);
            Value kk = g.matmul(kt, g.reshape(kt, 1, 2, 1, 3));
            Value forgotten = g.sub(s, g.mul(bt, g.matmul(kk, s)));
            Value next = g.add(g.mul(g.unary(UnaryFn.EXP, gt), forgotten), g.mul(bt, g.matmul(kt, vt)));
            g.output("s", next);
            g.output("y", g.reshape(g.matmul(qt, next), 1, 2, 5));
        });
        ScanAxis time = new ScanAxis(2, false);
        List<NdArray> wanted = Interpreter.run(
                new Scan(step, List.of(time, time, time, time, time), List.of(time)),
                List.of(state, q, k, v, decay, beta));
        List<NdArray> has =
                Interpreter.run(new GatedDeltaNet(true, true, true, 1), List.of(q, k, v, decay, beta, state));
        near(has.get(0), wanted.get(1));
        near(has.get(1), wanted.get(0));
    }

    /** What decoding rests on: a prompt at once, or a part and then the rest. */
    @Test
    void theStateCanBeHandedOn() {
        NdArray x = random.array(DType.F64, 2, STEPS, 4);
        NdArray delta = random.floats(DType.F64, 0.0625, 1, 2, STEPS, 4);
        NdArray a = random.floats(DType.F64, -1, -0.0625, 4, 3);
        NdArray b = random.array(DType.F64, 2, STEPS, 3);
        NdArray c = random.array(DType.F64, 2, STEPS, 3);
        List<NdArray> whole = Interpreter.run(new SelectiveScan(false, false), List.of(x, delta, a, b, c));
        List<NdArray> first = Interpreter.run(
                new SelectiveScan(false, false),
                List.of(part(x, 0, 4), part(delta, 0, 4), a, part(b, 0, 4), part(c, 0, 4)));
        List<NdArray> second = Interpreter.run(
                new SelectiveScan(false, true),
                List.of(
                        part(x, 4, STEPS),
                        part(delta, 4, STEPS),
                        a,
                        part(b, 4, STEPS),
                        part(c, 4, STEPS),
                        first.get(1)));
        near(second.get(1), whole.get(1));
        near(second.get(0), part(whole.get(0), 4, STEPS));
    }

    private static NdArray part(NdArray x, long from, long to) {
        Graph graph = GraphBuilder.build("part", g -> g.output("y", g.slice(input(g, "x", x), 1, from, to)));
        return Interpreter.run(graph, Map.of("x", x)).firstEntry().getValue();
    }

    @Test
    void operandsThatDoNotFit() {
        List<NdArray> good = Stream.of(
                        new long[] {1, 2, 4},
                        new long[] {1, 2, 4},
                        new long[] {4, 3},
                        new long[] {1, 2, 3},
                        new long[] {1, 2, 3})
                .map(sizes -> NdArray.zeros(DType.F32, sizes))
                .toList();
        for (int i = 0; i < good.size(); i++) {
            List<NdArray> bad = new java.util.ArrayList<>(good);
            bad.set(i, NdArray.zeros(DType.F32, i == 2 ? new long[] {5, 3} : new long[] {1, 2, 7}));
            assertThatThrownBy(() -> Interpreter.run(new SelectiveScan(false, false), bad))
                    .isInstanceOf(ShapeException.class)
                    .hasMessageContaining("selective_scan: ");
        }
        NdArray q = NdArray.zeros(DType.F32, 1, 3, 2, 4);
        NdArray k = NdArray.zeros(DType.F32, 1, 2, 2, 4);
        assertThatThrownBy(() -> Interpreter.run(new GatedDeltaNet(false, false, false, 1), List.of(q, k, k)))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("query heads are not a multiple of key heads");
    }
}
