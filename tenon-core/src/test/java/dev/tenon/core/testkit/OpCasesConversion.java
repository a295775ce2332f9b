package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Copy;
import dev.tenon.core.ir.op.movement.BitCast;
import java.util.ArrayList;
import java.util.List;

/** Casts, bit casts, copies. */
final class OpCasesConversion {
    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(2);

    private OpCasesConversion() {}

    static List<OpCase> all() {
        OpCasesConversion all = new OpCasesConversion();
        for (DType from : DType.values()) {
            for (DType to : DType.values()) {
                all.pair(from, to);
            }
            all.cases.add(OpCase.exact("copy " + from, new Copy(), all.random.array(from, 3, 11)));
        }
        for (long[] sizes : new long[][] {{}, {0}, {2, 0, 3}, {1}, {1009}}) {
            NdArray x = all.random.array(DType.F32, sizes);
            all.cases.add(OpCase.exact("copy " + x.type(), new Copy(), x));
            all.cases.add(OpCase.exact("cast to f16 " + x.type(), new Cast(DType.F16, true), x));
        }
        all.nearTies();
        return List.copyOf(all.cases);
    }

    /** Numbers that would be rounded twice by way of f32. */
    private void nearTies() {
        double[] numbers = {
            1001.25 + 0x1p-30, -1001.25 - 0x1p-30, 1001.75 - 0x1p-30, 1 + 0x1p-8 + 0x1p-40, 0x1p-25 + 0x1p-60, 0x1p60
        };
        long[] integers = {16842753, 16973823, 16973824, 33685507, 2147483647, 7};
        for (DType to : List.of(DType.F16, DType.BF16)) {
            NdArray x = NdArray.of(TensorType.of(DType.F64, numbers.length), numbers);
            cases.add(OpCase.exact("cast near ties f64 to " + to, new Cast(to, true), x));
            for (DType from : List.of(DType.I64, DType.I32, DType.U64, DType.U32)) {
                NdArray y = NdArray.of(TensorType.of(from, integers.length), integers);
                cases.add(OpCase.exact("cast near ties " + from + " to " + to, new Cast(to, true), y));
            }
        }
    }

    private void pair(DType from, DType to) {
        NdArray x = edges(from);
        String pair = " " + from + " to " + to;
        cases.add(OpCase.exact("cast" + pair, new Cast(to, true), x));
        if (to == DType.F8E4M3 || to == DType.F8E5M2) {
            cases.add(OpCase.exact("cast, not saturating," + pair, new Cast(to, false), x));
        }
        if (from.bits() == to.bits() && from != DType.BOOL && to != DType.BOOL) {
            // what comes out may be a NaN, whose payload nobody compares: it may be lost on the way through a register
            cases.add(OpCase.exact("bit cast" + pair, new BitCast(to), random.array(from, 33)));
        }
    }

    private NdArray edges(DType type) {
        if (type.isFloat()) {
            double[] values = {
                Double.NaN,
                Double.POSITIVE_INFINITY,
                Double.NEGATIVE_INFINITY,
                3e9,
                -3e9,
                1.9,
                -1.9,
                2147483520,
                300,
                -300,
                -1,
                255.9,
                0.3,
                0.0,
                -0.0,
                448,
                464,
                65504,
                1e-3,
                2.5,
                3.5
            };
            return NdArray.of(TensorType.of(type, values.length), values);
        }
        long min = Elements.min(type);
        long max = Elements.max(type);
        long[] values = {min, max, min + 1, max - 1, 0, 1, max / 2, min / 2, 7, 3};
        return NdArray.of(TensorType.of(type, values.length), values);
    }
}
