package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.normalisation.InstanceNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntToDoubleFunction;

/**
 * Numbers at which other projects' norms and activations were wrong (docs/cases.md: LN-01, LN-02, GE-01, GE-02). The
 * reference's own values are in NumericCasesTest.
 */
final class OpCasesHanded {
    private static final double EPSILON = 1e-5;
    private static final double INF = Double.POSITIVE_INFINITY;
    private static final List<Unary> ACTIVATIONS = List.of(
            Unary.of(UnaryFn.GELU),
            Unary.of(UnaryFn.GELU_TANH),
            Unary.silu(),
            new Unary(UnaryFn.SILU, 1.702f, 0),
            Unary.of(UnaryFn.MISH),
            Unary.of(UnaryFn.HARD_SWISH),
            Unary.of(UnaryFn.SOFTSIGN),
            Unary.of(UnaryFn.SIGMOID),
            Unary.of(UnaryFn.TANH),
            Unary.of(UnaryFn.SOFTPLUS));

    private final List<OpCase> cases = new ArrayList<>();

    private OpCasesHanded() {}

    static List<OpCase> all() {
        OpCasesHanded all = new OpCasesHanded();
        all.norms();
        all.activations();
        return List.copyOf(all.cases);
    }

    private void norms() {
        layerNorm("LN-01 large mean", 4, i -> 40_000 + i, 0);
        layerNorm("LN-01 constant row", 256, _ -> 1234, 0);
        layerNorm("LN-01 constant row with a bias", 256, _ -> 1234, 0.25);
        for (int width : new int[] {16, 48, 5008}) {
            layerNorm("LN-02 1x" + width, width, i -> 10_000 + i % 16 * 0x1p-10, 0);
        }
        NdArray ones = OpCases.f32(1, 1);
        NdArray zeros = OpCases.f32(0, 0);
        NdArray x = filled(DType.F32, 96, i -> 10_000 + i % 16 * 0x1p-10, 3, 2, 16);
        cases.add(OpCase.sums("LN-02 instance_norm", 16, new InstanceNorm(EPSILON), x, ones, zeros));
        NdArray mixed = filled(DType.F32, 48, i -> i < 16 ? 0 : i < 32 ? i - 16 : 10_000 + (i - 32) * 0x1p-10, 3, 16);
        cases.add(OpCase.sums("LN-02 3x16, rows of 0 and of i", 16, new LayerNorm(1, EPSILON, false, false), mixed));
    }

    private void layerNorm(String name, int width, IntToDoubleFunction value, double bias) {
        cases.add(OpCase.sums(
                name,
                width,
                new LayerNorm(1, EPSILON, true, true),
                filled(DType.F32, width, value, 1, width),
                filled(DType.F32, width, _ -> 1, width),
                filled(DType.F32, width, _ -> bias, width)));
    }

    private void activations() {
        double[] large = {-100, -40, -13.24, -1, 0, 1, 11, 40, 100, 65504, -65504};
        double[] special = {-INF, INF, Double.NaN, -4, -6, -20, -0.0, 3, -3};
        Epilogue none = Epilogue.NONE;
        for (DType type : OpCases.FLOATS) {
            for (Unary fn : ACTIVATIONS) {
                String name = (fn.alpha() > 1 ? "quick " : "") + fn.fn() + " " + type;
                cases.add(OpCase.close("GE-01 " + name, fn, twice(type, large)));
                cases.add(OpCase.close("GE-02 " + name, fn, twice(type, special)));
                NdArray x = twice(type, special);
                NdArray column = filled(type, x.size(), x::get, x.size(), 1);
                NdArray one = filled(type, 1, _ -> 1, 1, 1);
                cases.add(OpCase.close(
                        "GE-02 mat_mul with " + name, new MatMul(false, false, none.withActivation(fn)), column, one));
            }
        }
    }

    /** Twice, so that vector loops have whole vectors and a rest. */
    private static NdArray twice(DType type, double... values) {
        return filled(type, 2 * values.length, i -> values[i % values.length], 2L * values.length);
    }

    private static NdArray filled(DType type, int count, IntToDoubleFunction value, long... sizes) {
        double[] values = new double[count];
        Arrays.setAll(values, i -> Tolerance.rounded(type, value.applyAsDouble(i)));
        return NdArray.of(TensorType.of(type, sizes), values);
    }
}
