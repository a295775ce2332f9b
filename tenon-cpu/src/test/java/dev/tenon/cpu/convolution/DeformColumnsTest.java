package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.op.convolution.DeformColumns;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.RandomOps;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Moved cells against the definition, bit for bit: inside, outside, no numbers. */
class DeformColumnsTest {
    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
    void anyWindows(long seed) {
        Seeded random = new Seeded(seed);
        DType dtype = RandomOps.any(random, DType.F32, DType.F64, DType.F16, DType.BF16);
        long groups = random.nextLong(1, 3);
        long channels = groups * random.nextLong(0, 3);
        long batch = random.nextLong(0, 2);
        List<Long> kernel = RandomOps.numbers(random, 2, 1, 3);
        List<Long> strides = RandomOps.numbers(random, 2, 1, 2);
        List<Long> before = RandomOps.numbers(random, 2, 0, 2);
        List<Long> after = RandomOps.numbers(random, 2, 0, 2);
        List<Long> dilations = RandomOps.numbers(random, 2, 1, 2);
        long[] sizes = {random.nextLong(5, 19), random.nextLong(5, 19)};
        long[] places = new long[2];
        for (int axis = 0; axis < 2; axis++) {
            long reach = (kernel.get(axis) - 1) * dilations.get(axis) + 1;
            places[axis] = (sizes[axis] + before.get(axis) + after.get(axis) - reach) / strides.get(axis) + 1;
        }
        boolean mask = random.nextLong(0, 1) == 0;
        long cells = kernel.get(0) * kernel.get(1);
        List<NdArray> inputs = new ArrayList<>();
        inputs.add(random.array(dtype, batch, channels, sizes[0], sizes[1]));
        inputs.add(random.array(dtype, batch, groups * cells * 2, places[0], places[1]));
        if (mask) {
            inputs.add(random.array(dtype, batch, groups * cells, places[0], places[1]));
        }
        NdArray offsets = inputs.get(1);
        double[] odd = {Double.NaN, Double.POSITIVE_INFINITY, 0, -1, 30000};
        for (int i = 0; i < Math.min(odd.length, offsets.size()); i++) {
            offsets.set(3 * i % offsets.size(), odd[i]);
        }
        NdArray x = inputs.getFirst();
        if (x.size() > 20) {
            x.set(20, Double.POSITIVE_INFINITY);
        }
        DeformColumns op = new DeformColumns(kernel, strides, before, after, dilations, groups, mask);
        RandomOps.check(op, 0, inputs);
    }
}
