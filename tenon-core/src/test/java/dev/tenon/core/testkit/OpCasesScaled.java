package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import java.util.ArrayList;
import java.util.List;

/** Products with weights of short integers: scales by row and by block, blocks that end early, odd rows. */
final class OpCasesScaled {
    private OpCasesScaled() {}

    static List<OpCase> all() {
        List<OpCase> cases = new ArrayList<>();
        Seeded random = new Seeded(67);
        long[][] sizes = {{1, 1, 1, 0}, {1, 37, 260, 0}, {1, 5, 96, 32}, {3, 5, 33, 16}, {9, 34, 128, 4}, {2, 3, 7, 3}};
        for (DType type : OpCases.FLOATS) {
            for (DType q : List.of(DType.I8, DType.U8, DType.I4, DType.U4)) {
                long least = q == DType.I8 ? -128 : q == DType.I4 ? -8 : 0;
                long most = least + (q.bits() == 8 ? 255 : 15);
                for (long[] size : sizes) {
                    for (boolean zero : new boolean[] {false, true}) {
                        ScaledMatMul op = new ScaledMatMul(size[3], zero);
                        long blocks = op.blocks(size[2]);
                        List<NdArray> inputs = new ArrayList<>(List.of(
                                random.floats(type, -0.125, 0.125, size[0], size[2]),
                                random.integers(q, least, most, size[1], size[2]),
                                random.floats(type, 0.0625, 0.125, size[1], blocks)));
                        if (zero) {
                            inputs.add(random.integers(q, least, most, size[1], blocks));
                        }
                        cases.add(new OpCase(
                                op + " " + q + " of " + type + " " + size[0] + " " + size[1] + " " + size[2],
                                op,
                                inputs,
                                size[2]));
                    }
                }
            }
        }
        ScaledMatMul rows = new ScaledMatMul(0, false);
        cases.add(OpCase.sums(
                "scaled_mat_mul no columns",
                1,
                rows,
                NdArray.zeros(DType.F32, 2, 0),
                NdArray.zeros(DType.I4, 3, 0),
                random.array(DType.F32, 3, 1)));
        cases.add(OpCase.sums(
                "scaled_mat_mul no rows",
                1,
                rows,
                NdArray.zeros(DType.F32, 0, 4),
                NdArray.zeros(DType.U8, 3, 4),
                random.array(DType.F32, 3, 1)));
        return cases;
    }
}
