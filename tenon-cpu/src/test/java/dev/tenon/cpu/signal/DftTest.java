package dev.tenon.cpu.signal;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.op.signal.Dft;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.RandomOps;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Transforms against their definition: every small length, lengths of all radices and of primes past them. */
class DftTest {
    static LongStream lengths() {
        return LongStream.concat(
                LongStream.rangeClosed(1, 70), LongStream.of(96, 31 * 29, 37 * 16, 625, 729, 1009, 1024, 2048, 2310));
    }

    @ParameterizedTest
    @MethodSource("lengths")
    void everyForm(long length) {
        Seeded random = new Seeded(length);
        DType dtype = length % 2 == 0 ? DType.F32 : DType.F64;
        for (boolean inverse : List.of(false, true)) {
            check(new Dft(0, length, inverse, false), random.array(dtype, length, 1, 2));
            check(new Dft(0, length, inverse, false), random.array(dtype, length, 2, 1));
            long there = inverse ? length / 2 + 1 : length;
            check(new Dft(1, length, inverse, true), random.array(dtype, 2, there, inverse ? 2 : 1));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
    void anyAttributes(long seed) {
        Seeded random = new Seeded(seed);
        DType dtype = RandomOps.any(random, DType.F32, DType.F64, DType.F16, DType.BF16);
        int axis = (int) random.nextLong(0, 2);
        NdArray x = random.array(
                dtype, random.nextLong(0, 5), random.nextLong(1, 40), random.nextLong(1, 6), random.nextLong(1, 2));
        boolean inverse = random.nextLong(0, 1) == 0;
        boolean onesided = random.nextLong(0, 1) == 0;
        check(new Dft(axis, random.nextLong(1, 50), inverse, onesided), x);
    }

    private static void check(Dft op, NdArray x) {
        // in f64 the definition rounds as often as the step does
        long rounds = x.dtype() == DType.F64 ? 4 : 1;
        RandomOps.check(op, rounds * Math.max(2, op.length()), List.of(x));
    }
}
