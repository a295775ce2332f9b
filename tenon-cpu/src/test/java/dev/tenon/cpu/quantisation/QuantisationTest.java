package dev.tenon.cpu.quantisation;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.core.ir.op.quantisation.DynamicQuantize;
import dev.tenon.core.ir.op.quantisation.Quantize;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.RandomOps;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantisationTest {
    private static long[] scaleSizes(Seeded random, long[] x, int axis, long block) {
        return switch ((int) random.nextLong(0, 2)) {
            case 0 -> new long[0];
            case 1 -> new long[] {1};
            default -> {
                if (block == 0) {
                    yield new long[] {x[axis]};
                }
                long[] sizes = x.clone();
                sizes[axis] = Math.ceilDiv(sizes[axis], block);
                yield sizes;
            }
        };
    }

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"I4", "U4", "I8", "U8", "I16", "U16", "F8E4M3", "F8E5M2"})
    void thereAndBack(DType small) {
        Seeded random = new Seeded(small.bits() + small.name().length());
        for (int round = 0; round < 24; round++) {
            long[] sizes = {random.nextLong(1, 3), random.nextLong(1, 9), random.nextLong(1, 70)};
            int axis = (int) random.nextLong(0, 2);
            long block = random.nextLong(0, 1) * random.nextLong(1, 5);
            DType wide = RandomOps.any(random, DType.F32, DType.F32, DType.F16, DType.F64);
            boolean zero = random.nextLong(0, 1) == 0;
            List<NdArray> there = new ArrayList<>();
            there.add(random.floats(wide, -20, 20, sizes));
            there.add(random.floats(wide, 0.1, 2, scaleSizes(random, sizes, axis, block)));
            List<NdArray> back = new ArrayList<>();
            back.add(small.isFloat() ? random.floats(small, -8, 8, sizes) : random.integers(small, -8, 15, sizes));
            back.add(random.floats(wide, 0.1, 2, scaleSizes(random, sizes, axis, block)));
            if (zero) {
                long[] zeros = scaleSizes(random, sizes, axis, block);
                NdArray points = small.isFloat() ? NdArray.zeros(small, zeros) : random.integers(small, 0, 7, zeros);
                there.add(points);
                back.add(points);
            }
            RandomOps.check(new Quantize(small, axis, block, zero), 0, there);
            RandomOps.check(new Dequantize(axis, block, zero), 1, back);
        }
    }

    @Test
    void edgesOfRounding() {
        NdArray x = NdArray.of(
                TensorType.of(DType.F32, 36),
                0.5,
                1.5,
                2.5,
                -0.5,
                -1.5,
                -2.5,
                Double.NaN,
                1e30,
                -1e30,
                Double.POSITIVE_INFINITY,
                Double.NEGATIVE_INFINITY,
                254.5,
                255.5,
                0.49999997,
                126.5,
                127.5,
                -128.5,
                -129,
                3e9,
                -0.0,
                0.5,
                1.5,
                2.5,
                -0.5,
                -1.5,
                -2.5,
                Double.NaN,
                1e30,
                -1e30,
                Double.POSITIVE_INFINITY,
                Double.NEGATIVE_INFINITY,
                254.5,
                255.5,
                0.49999997,
                126.5,
                127.5);
        for (DType to : List.of(DType.U8, DType.I8, DType.I16, DType.U4)) {
            for (long zero : new long[] {0, 3}) {
                NdArray point = NdArray.of(TensorType.of(to), zero);
                NdArray scale = NdArray.of(TensorType.of(DType.F32), 1.0);
                RandomOps.check(new Quantize(to, 0, 0, true), 0, List.of(x, scale, point));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 15, 16, 17, 100, 4096, 20001})
    void dynamic(long size) {
        Seeded random = new Seeded(size);
        RandomOps.check(new DynamicQuantize(), 1, List.of(random.floats(DType.F32, -2, 5, size)));
        RandomOps.check(new DynamicQuantize(), 1, List.of(random.floats(DType.F32, 1, 5, size)));
        RandomOps.check(new DynamicQuantize(), 1, List.of(random.floats(DType.F32, -3, -1, size)));
        RandomOps.check(new DynamicQuantize(), 1, List.of(NdArray.zeros(DType.F32, size)));
    }
}
