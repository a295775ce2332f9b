package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.UnaryAccuracy;
import dev.tenon.core.ir.op.elementwise.UnarySweep;
import dev.tenon.cuda.kernel.MatMulKernels;
import dev.tenon.cuda.lower.step.RegionForm;
import dev.tenon.cuda.port.DeviceBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Functions of one float: each within its stated bound over all exponents, and the handed cases GE-01 and GE-02 in
 * every kernel that applies an activation (docs/accuracy.md, docs/cases.md).
 */
final class UnaryCases {
    private static final String KERNEL = "unary";
    private static final double INF = Double.POSITIVE_INFINITY;
    private static final List<DType> SWEPT = List.of(DType.F32, DType.F16, DType.BF16);
    private static final List<Unary> ACTIVATIONS = List.of(
            Unary.of(UnaryFn.GELU),
            Unary.of(UnaryFn.GELU_TANH),
            Unary.silu(),
            new Unary(UnaryFn.SILU, 1.702f, 0),
            Unary.of(UnaryFn.MISH),
            Unary.of(UnaryFn.HARD_SWISH));

    private UnaryCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (DType dtype : SWEPT) {
            for (Unary op : UnarySweep.functions()) {
                cases.add(new KernelCase(
                        KERNEL, dtype + " " + op + " over all exponents", stage -> sweep(stage, dtype, op)));
            }
            cases.add(new KernelCase(KERNEL, "GE-01 " + dtype + " large arguments", stage -> large(stage, dtype)));
        }
        for (DType dtype : List.of(DType.F32, DType.F16, DType.BF16, DType.F64)) {
            cases.add(new KernelCase(KERNEL, "GE-02 " + dtype + " limits", stage -> limits(stage, dtype)));
        }
        cases.add(new KernelCase(KERNEL, "GE-02 f32 tails", UnaryCases::tails));
        return cases;
    }

    private static void sweep(KernelStage stage, DType dtype, Unary op) {
        double[] x = UnarySweep.arguments(dtype);
        double[] y = single(stage, dtype, op, x);
        for (int i = 0; i < x.length; i++) {
            UnaryAccuracy.check(op, dtype, x[i], y[i]);
        }
    }

    private static void large(KernelStage stage, DType dtype) {
        double[] x = {-100, -40, -13.24, -1, 0, 1, 11, 40, 100, 65504, -65504};
        List<Unary> functions = new ArrayList<>(ACTIVATIONS);
        functions.addAll(List.of(Unary.of(UnaryFn.SIGMOID), Unary.of(UnaryFn.TANH), Unary.of(UnaryFn.SOFTPLUS)));
        for (int i = 0; i < x.length; i++) {
            x[i] = Tolerance.rounded(dtype, x[i]);
        }
        for (Unary op : functions) {
            for (double[] y : everywhere(stage, dtype, op, x)) {
                for (int i = 0; i < x.length; i++) {
                    UnaryAccuracy.check(op, dtype, x[i], y[i]);
                }
            }
        }
    }

    private static void limits(KernelStage stage, DType dtype) {
        double[] x = {-INF, INF, Double.NaN, -100, 100};
        for (Unary op : ACTIVATIONS) {
            for (double[] y : everywhere(stage, dtype, op, x)) {
                boolean right = y[0] == 0 && y[1] == INF && Double.isNaN(y[2]) && Math.abs(y[3]) < 1e-30 && y[4] == 100;
                if (!right) {
                    throw new AssertionError(op + " of -inf, inf, NaN, -100, 100 is " + java.util.Arrays.toString(y)
                            + "; expected 0, inf, NaN, 0, 100");
                }
            }
        }
        for (double[] y : everywhere(stage, dtype, Unary.of(UnaryFn.SOFTSIGN), x)) {
            if (y[0] != -1 || y[1] != 1) {
                throw new AssertionError("softsign of -inf, inf is " + y[0] + ", " + y[1] + "; expected -1, 1");
            }
        }
    }

    private static void tails(KernelStage stage) {
        double[] x = {-4, -6, -20};
        near(everywhere(stage, DType.F32, Unary.of(UnaryFn.GELU), x), -1.2668497e-4, -5.9195259e-9);
        near(everywhere(stage, DType.F32, Unary.of(UnaryFn.GELU_TANH), x), -7.0245948e-5, -8.4396467e-11);
        near(everywhere(stage, DType.F32, Unary.silu(), x), -0.071944839, -0.014835739, -4.1223072e-8);
    }

    private static void near(List<double[]> results, double... expected) {
        for (double[] y : results) {
            for (int i = 0; i < expected.length; i++) {
                if (!(Math.abs(y[i] - expected[i]) <= 1e-6 * Math.abs(expected[i]))) {
                    throw new AssertionError("element " + i + " is " + y[i] + "; expected " + expected[i]);
                }
            }
        }
    }

    /**
     * By the kernel of one function, by the interpreting and a compiled kernel of a region that multiplies x by 1
     * first, and by the one behind a product, for any and for that function.
     */
    private static List<double[]> everywhere(KernelStage stage, DType dtype, Unary op, double[] x) {
        Region region = new Region(
                List.of(new Region.Step(new Binary(BinaryFn.MUL), List.of(0, 1)), new Region.Step(op, List.of(2))),
                List.of(1));
        List<NdArray> inputs = List.of(array(dtype, x), NdArray.of(TensorType.of(dtype), 1));
        List<double[]> results = new ArrayList<>(List.of(single(stage, dtype, op, x)));
        for (RegionForm form : List.of(RegionForm.INTERPRETED, RegionForm.COMPILED)) {
            results.add(new StepRun(stage, form).run(region, inputs).output().toDoubles());
        }
        DeviceBuffer y = stage.upload(dtype, x, 0);
        new MatMulKernels(stage.modules())
                .finish(dtype, 1, x.length, false, op)
                .enqueue(stage.stream(), stage.arguments(), y.address(), 0, 0, y.address());
        results.add(stage.download(dtype, y, x.length, 0));
        return results;
    }

    private static double[] single(KernelStage stage, DType dtype, Unary op, double[] x) {
        return new StepRun(stage).run(op, List.of(array(dtype, x))).output().toDoubles();
    }

    private static NdArray array(DType dtype, double[] x) {
        return NdArray.of(TensorType.of(dtype, x.length), x);
    }
}
