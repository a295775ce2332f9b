package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.GatedUnit;
import dev.tenon.core.ir.op.elementwise.Unary;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Gated linear units: every type, widths on and off 16-byte boundaries, several turns a thread, special values. */
final class GatedUnitCases {
    private static final String KERNEL = "gated_unit";

    private GatedUnitCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (DType type : List.of(DType.F32, DType.F16, DType.BF16, DType.F64)) {
            for (Unary fn : List.of(Unary.of(UnaryFn.GELU), Unary.silu(), Unary.of(UnaryFn.SIGMOID))) {
                for (int[] sizes : new int[][] {{1, 1}, {3, 5}, {257, 8}, {19, 1000}, {1100, 129}, {700, 512}}) {
                    String name = type + " " + fn.fn().word() + " " + sizes[0] + " x " + sizes[1];
                    cases.add(new KernelCase(KERNEL, name, stage -> units(stage, type, fn, sizes)));
                }
                cases.add(new KernelCase(
                        KERNEL, type + " " + fn.fn().word() + " special", stage -> special(stage, type, fn)));
            }
        }
        return cases;
    }

    private static void units(KernelStage stage, DType type, Unary fn, int[] sizes) {
        NdArray x = CaseArrays.normal(new Random(sizes[0]), type, sizes[0], 2L * sizes[1]);
        StepRun run = new StepRun(stage);
        run.check(new GatedUnit(fn, false), List.of(x), 4);
        run.check(new GatedUnit(fn, true), List.of(x), 4);
    }

    /** Pairs of values at which a product has no number. */
    private static void special(KernelStage stage, DType type, Unary fn) {
        double inf = Double.POSITIVE_INFINITY;
        double[] values = {0, -0.0, 1, -1, inf, -inf, Double.NaN, 60};
        NdArray x = NdArray.zeros(TensorType.of(type, 1, 2L * values.length * values.length));
        for (int i = 0; i < values.length * values.length; i++) {
            x.set(i, values[i / values.length]);
            x.set(values.length * values.length + i, values[i % values.length]);
        }
        StepRun run = new StepRun(stage);
        run.check(new GatedUnit(fn, false), List.of(x), 4);
        run.check(new GatedUnit(fn, true), List.of(x), 4);
    }
}
