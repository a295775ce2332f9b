package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.core.ir.op.quantisation.DynamicQuantize;
import dev.tenon.core.ir.op.quantisation.Quantize;
import java.util.ArrayList;
import java.util.List;

/** Quantisation. All of it is exact: quotients are f32 numbers, or f64 ones, on every backend. */
final class OpCasesQuantisation {
    private static final List<DType> TARGETS =
            List.of(DType.I8, DType.U8, DType.I16, DType.U16, DType.I4, DType.U4, DType.F8E4M3, DType.F8E5M2);

    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(13);

    private OpCasesQuantisation() {}

    static List<OpCase> all() {
        OpCasesQuantisation all = new OpCasesQuantisation();
        for (DType to : TARGETS) {
            all.quantize(to);
            all.dequantize(to);
        }
        all.edges();
        all.dynamic();
        return List.copyOf(all.cases);
    }

    private NdArray zeros(DType type, long... sizes) {
        // f8 has no zero points but 0
        return type.isFloat() ? NdArray.zeros(type, sizes) : random.integers(type, 0, 5, sizes);
    }

    private void quantize(DType to) {
        for (DType type : OpCases.FLOATS) {
            String name = "quantize " + type + " to " + to;
            NdArray x = random.floats(type, -300, 300, 3, 7, 5);
            NdArray scale = random.floats(type, 0.5, 2);
            cases.add(OpCase.exact(name, new Quantize(to, 0, 0, false), x, scale));
            cases.add(OpCase.exact(name + " with zero point", new Quantize(to, 0, 0, true), x, scale, zeros(to)));
            for (int axis = 0; axis < 3; axis++) {
                long size = x.shape().size(axis);
                Quantize op = new Quantize(to, axis, 0, true);
                NdArray scales = random.floats(type, 0.5, 20, size);
                cases.add(OpCase.exact(name + " along axis " + axis, op, x, scales, zeros(to, size)));
            }
            cases.add(OpCase.exact(
                    name + " in blocks",
                    new Quantize(to, 1, 3, true),
                    x,
                    random.floats(type, 1, 30, 3, 3, 5),
                    zeros(to, 3, 3, 5)));
            cases.add(OpCase.exact(
                    name + " in blocks of the last axis",
                    new Quantize(to, 2, 2, false),
                    x,
                    random.floats(type, 1, 30, 3, 7, 3)));
        }
        cases.add(OpCase.exact(
                "quantize i32 to " + to,
                new Quantize(to, 0, 0, true),
                random.integers(DType.I32, -1000, 1000, 65),
                OpCases.f32(new long[0], 7),
                zeros(to)));
    }

    private void dequantize(DType from) {
        NdArray x =
                from.isFloat() ? random.floats(from, -16, 16, 3, 7, 5) : random.integers(from, -40000, 40000, 3, 7, 5);
        for (DType type : OpCases.FLOATS) {
            String name = "dequantize " + from + " to " + type;
            NdArray scale = random.floats(type, 0.5, 2);
            cases.add(OpCase.exact(name, new Dequantize(0, 0, false), x, scale));
            cases.add(OpCase.exact(name + " with zero point", new Dequantize(0, 0, true), x, scale, zeros(from, 1)));
            for (int axis = 0; axis < 3; axis++) {
                long size = x.shape().size(axis);
                NdArray scales = random.floats(type, 0.5, 2, size);
                Dequantize op = new Dequantize(axis, 0, true);
                cases.add(OpCase.exact(name + " along axis " + axis, op, x, scales, zeros(from, size)));
            }
            cases.add(OpCase.exact(
                    name + " in blocks",
                    new Dequantize(0, 2, true),
                    x,
                    random.floats(type, 0.5, 2, 2, 7, 5),
                    zeros(from, 2, 7, 5)));
        }
    }

    private void edges() {
        NdArray two = OpCases.f32(new long[0], 2);
        double infinity = Double.POSITIVE_INFINITY;
        NdArray halves = OpCases.f32(-5, -3, -1, -0.0, 0, 1, 3, 5, 7, 1000, -1000, infinity, -infinity, 1e30);
        for (DType to : TARGETS) {
            cases.add(OpCase.exact("quantize halves to " + to, new Quantize(to, 0, 0, false), halves, two));
        }
        // of 0.35 the quotient is 3.5 as f32, whose even neighbour is 4, and just below it as f64
        cases.add(OpCase.exact(
                "quantize a quotient that f32 rounds",
                new Quantize(DType.I8, 0, 0, false),
                NdArray.of(TensorType.of(DType.F32, 3), 0.25, 0.35, 0.45),
                OpCases.f32(new long[0], 0.1)));
        cases.add(OpCase.exact(
                "quantize nothing", new Quantize(DType.I8, 0, 0, false), NdArray.zeros(DType.F32, 0, 3), two));
        cases.add(OpCase.exact(
                "dequantize i32",
                new Dequantize(0, 0, false),
                random.integers(DType.I32, -1_000_000, 1_000_000, 33),
                OpCases.f32(new long[0], 0.25)));
    }

    private void dynamic() {
        DynamicQuantize op = new DynamicQuantize();
        cases.add(OpCase.exact("dynamic_quantize", op, OpCases.f32(0, 2, -3, -2.5, 1.34, 0.5)));
        cases.add(OpCase.exact("dynamic_quantize positive", op, random.floats(DType.F32, 1, 5, 3, 33)));
        cases.add(OpCase.exact("dynamic_quantize negative", op, random.floats(DType.F32, -5, -1, 1025)));
        cases.add(OpCase.exact("dynamic_quantize both", op, random.floats(DType.F32, -5, 7, 10, 10, 11)));
        cases.add(OpCase.exact("dynamic_quantize many", op, random.floats(DType.F32, -3, 7, 20_011)));
        NdArray odd = random.floats(DType.F32, -3, 7, 9001);
        odd.set(4321, Double.NaN);
        cases.add(OpCase.exact("dynamic_quantize NaN", op, odd));
        cases.add(OpCase.exact(
                "dynamic_quantize infinity",
                op,
                OpCases.f32(1, -2, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY)));
        cases.add(OpCase.exact("dynamic_quantize zeros", op, NdArray.zeros(DType.F32, 5)));
        cases.add(OpCase.exact("dynamic_quantize nothing", op, NdArray.zeros(DType.F32, 0)));
        cases.add(OpCase.exact("dynamic_quantize scalar", op, OpCases.f32(new long[0], -3)));
    }
}
