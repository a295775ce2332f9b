package dev.tenon.core.testkit;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.op.control.Loop;
import dev.tenon.core.ir.op.control.Scan;
import dev.tenon.core.ir.op.control.ScanAxis;
import dev.tenon.core.ir.op.searching.NonZero;
import java.util.ArrayList;
import java.util.List;

/** Graphs that run other graphs. */
final class OpCasesLoops {
    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(43);

    private OpCasesLoops() {}

    static List<OpCase> all() {
        OpCasesLoops all = new OpCasesLoops();
        all.counted();
        all.growing();
        all.scans();
        return List.copyOf(all.cases);
    }

    private static NdArray times(long times) {
        return OpCases.i64(new long[0], times);
    }

    private static NdArray condition(boolean holds) {
        return NdArray.of(TensorType.of(DType.BOOL), holds ? 1L : 0L);
    }

    /** Adds a captured number to the state, and ends where the sum is not below a bound. */
    private static Graph sums(boolean bounded) {
        return GraphBuilder.build("sums", g -> {
            Value iteration = g.input("i", TensorType.of(DType.I64));
            Value condition = g.input("go", TensorType.of(DType.BOOL));
            Value state = g.input("state", TensorType.of(DType.F32, 2));
            Value step = g.input("step", TensorType.of(DType.F32, 2));
            Value next = g.add(state, step);
            Value first = g.reshape(g.slice(next, 0, 0, 1));
            g.output("go", bounded ? g.compare(CompareFn.LT, first, g.scalar(DType.F32, 5)) : condition);
            g.output("state", next);
            g.output("square", g.mul(next, next));
            g.output("i", iteration);
        });
    }

    private void counted() {
        NdArray state = OpCases.f32(1, -1);
        NdArray step = OpCases.f32(0.5, 0.25);
        for (boolean bounded : List.of(false, true)) {
            Loop op = new Loop(sums(bounded), 1);
            for (long count : new long[] {0, 1, 3, 31}) {
                String name = "loop " + count + (bounded ? " bounded" : "");
                cases.add(OpCase.close(name, op, times(count), condition(true), state, step));
            }
            String name = "loop never" + (bounded ? " bounded" : "");
            cases.add(OpCase.close(name, op, times(9), condition(false), state, step));
        }
        cases.add(OpCase.close(
                "loop until", new Loop(sums(true), 1), times(Long.MAX_VALUE), condition(true), state, step));
    }

    /** A state that grows by what it finds. */
    private void growing() {
        Graph body = GraphBuilder.build("grows", g -> {
            g.input("i", TensorType.of(DType.I64));
            Value condition = g.input("go", TensorType.of(DType.BOOL));
            Value state = g.input("state", DType.I64, Dim.unknown());
            Value found = g.add(new NonZero(), state);
            g.output("go", condition);
            g.output(
                    "state",
                    g.concat(
                            List.of(
                                    state,
                                    g.addAll(new dev.tenon.core.ir.op.movement.SqueezeAxes(), List.of(found, zero(g)))
                                            .getFirst()),
                            0));
        });
        cases.add(OpCase.exact("loop grows", new Loop(body, 1), times(11), condition(true), NdArray.ofLongs(0, 7)));
    }

    private static Value zero(dev.tenon.core.build.Ops g) {
        return g.constant(NdArray.ofLongs(0).toConstant());
    }

    private void scans() {
        Graph body = GraphBuilder.build("step", g -> {
            Value state = g.input("state", TensorType.of(DType.F32, 3));
            Value x = g.input("x", TensorType.of(DType.F32, 3));
            Value y = g.input("y", TensorType.of(DType.F32));
            Value w = g.input("w", TensorType.of(DType.F32));
            Value next = g.add(g.mul(state, w), g.mul(x, y));
            g.output("state", next);
            g.output("row", next);
            g.output("last", y);
        });
        for (boolean reverse : List.of(false, true)) {
            for (long length : new long[] {0, 1, 5, 33}) {
                Scan op = new Scan(
                        body,
                        List.of(new ScanAxis(1, reverse), new ScanAxis(0, false)),
                        List.of(new ScanAxis(1, false), new ScanAxis(0, reverse)));
                cases.add(OpCase.sums(
                        "scan " + length + (reverse ? " reversed" : ""),
                        Math.max(1, length),
                        op,
                        random.array(DType.F32, 3),
                        random.array(DType.F32, 3, length),
                        random.array(DType.F32, length),
                        OpCases.f32(new long[0], 0.5)));
            }
        }
    }
}
