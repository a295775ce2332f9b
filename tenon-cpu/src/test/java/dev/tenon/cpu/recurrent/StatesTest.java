package dev.tenon.cpu.recurrent;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.op.state.GatedDeltaNet;
import dev.tenon.core.ir.op.state.SelectiveScan;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.RandomOps;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** State models of any sizes, types and attributes against their definition. */
class StatesTest {
    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23})
    void gatedDeltaNet(long seed) {
        Seeded random = new Seeded(seed);
        DType dtype = RandomOps.any(random, DType.F32, DType.F64, DType.F16, DType.BF16);
        long batch = random.nextLong(seed == 7 ? 0 : 1, 2);
        long groups = random.nextLong(1, 3);
        long heads = groups * random.nextLong(1, 3);
        long steps = random.nextLong(seed % 5 == 4 ? 0 : 1, 6);
        long size = random.nextLong(1, 9);
        long columns = RandomOps.any(random, 0L, 1L, 5L, 31L, 32L, 33L, 70L);
        boolean decay = flip(random);
        boolean delta = flip(random);
        boolean initial = flip(random);
        List<NdArray> inputs = new ArrayList<>();
        inputs.add(random.floats(dtype, -0.5, 0.5, batch, heads, steps, size));
        inputs.add(random.floats(dtype, -0.5, 0.5, batch, groups, steps, size));
        inputs.add(random.array(dtype, batch, groups, steps, columns));
        if (decay) {
            inputs.add(random.floats(dtype, -2, 0, batch, groups, steps, flip(random) ? 1 : size));
        }
        if (delta) {
            inputs.add(random.floats(dtype, 0, 1, batch, groups, steps));
        }
        if (initial) {
            inputs.add(random.array(dtype, batch, groups, size, columns));
        }
        GatedDeltaNet op = new GatedDeltaNet(decay, delta, initial, RandomOps.any(random, Double.NaN, 1.0, -0.25));
        RandomOps.check(op, Math.max(1, steps * size), inputs);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
    void selectiveScan(long seed) {
        Seeded random = new Seeded(seed);
        DType dtype = RandomOps.any(random, DType.F64, DType.F16, DType.BF16);
        boolean skip = flip(random);
        boolean initial = flip(random);
        long batch = random.nextLong(1, 2);
        long steps = random.nextLong(seed % 5 == 4 ? 0 : 1, 5);
        long channels = random.nextLong(0, 6);
        long states = random.nextLong(0, 5);
        List<NdArray> inputs = new ArrayList<>();
        inputs.add(random.array(dtype, batch, steps, channels));
        inputs.add(random.floats(dtype, 0, 1, batch, steps, channels));
        inputs.add(random.floats(dtype, -2, 0, channels, states));
        inputs.add(random.array(dtype, batch, steps, states));
        inputs.add(random.array(dtype, batch, steps, states));
        if (skip) {
            inputs.add(random.array(dtype, channels));
        }
        if (initial) {
            inputs.add(random.array(dtype, batch, channels, states));
        }
        RandomOps.check(new SelectiveScan(skip, initial), Math.max(1, steps * states), inputs);
    }

    private static boolean flip(Seeded random) {
        return random.nextLong(0, 1) == 0;
    }
}
