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
        return List.copyOf(all.cases);
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
