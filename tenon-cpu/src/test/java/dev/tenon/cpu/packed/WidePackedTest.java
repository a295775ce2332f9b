package dev.tenon.cpu.packed;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.core.ir.op.contraction.DecodeBlocks;
import dev.tenon.core.ir.op.contraction.DequantMatMul;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.RandomOps;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Packed weights beside f64 and short floats, against the definition. */
class WidePackedTest {
    @ParameterizedTest
    @EnumSource(BlockFormat.class)
    void everyFormatInF64(BlockFormat format) {
        Seeded random = new Seeded(format.ordinal());
        for (long columns : new long[] {0, 1, 3, 4, 5, 9}) {
            for (long blocks : new long[] {1, 3}) {
                // exponents of the scales stay small: bytes of 0x2A to 0x3B
                NdArray packed = random.integers(DType.U8, 0x2A, 0x3B, columns, blocks * format.bytes());
                RandomOps.check(new DecodeBlocks(format, DType.F64), 0, List.of(packed));
                for (long rows : new long[] {0, 1, 3}) {
                    NdArray x = random.array(DType.F64, rows, blocks * format.elements());
                    long terms = blocks * format.elements();
                    RandomOps.check(new DequantMatMul(format), terms, List.of(x, packed));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
    void scaledProductsOfOtherTypes(long seed) {
        Seeded random = new Seeded(seed);
        DType dtype = RandomOps.any(random, DType.F64, DType.F16, DType.BF16);
        DType q = RandomOps.any(random, DType.I8, DType.U8, DType.I4, DType.U4);
        long depth = random.nextLong(seed == 5 ? 0 : 1, 70);
        long columns = random.nextLong(0, 11);
        ScaledMatMul op = new ScaledMatMul(RandomOps.any(random, 0L, 1L, 7L, 16L, 99L), random.nextLong(0, 1) == 0);
        List<NdArray> inputs = new ArrayList<>();
        inputs.add(random.array(dtype, random.nextLong(0, 3), random.nextLong(1, 3), depth));
        inputs.add(random.array(q, columns, depth));
        inputs.add(random.array(dtype, columns, op.blocks(depth)));
        if (op.zeroPoint()) {
            inputs.add(random.array(q, columns, op.blocks(depth)));
        }
        RandomOps.check(op, Math.max(1, depth), inputs);
    }
}
