package dev.tenon.cpu.matmul;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.contraction.MatMulInteger;
import dev.tenon.cpu.CpuRun;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Products of 8-bit integers against the definition: types, zero points, sizes, constant weights and others. */
class IntegerMatMulTest {
    private static final int CASES = 400;

    private static NdArray random(DType dtype, Random random, Shape shape, boolean extreme) {
        long[] values = new long[Math.toIntExact(shape.elements())];
        int least = dtype == DType.U8 ? 0 : -128;
        for (int i = 0; i < values.length; i++) {
            values[i] = extreme ? least + 255L * random.nextInt(2) : least + random.nextInt(256);
        }
        return NdArray.of(new TensorType(dtype, shape), values);
    }

    @Test
    void everyKindIsExact() {
        Random random = new Random(12);
        List<DType> types = List.of(DType.U8, DType.I8);
        try (CpuRun run = new CpuRun(2)) {
            for (int turn = 0; turn < CASES; turn++) {
                int m = turn % 20 == 0 ? 400 : random.nextInt(20) + 1;
                int k = turn % 7 == 0 ? random.nextInt(700) + 1 : random.nextInt(40) + 1;
                int n = random.nextInt(80) + 1;
                DType typeA = types.get(random.nextInt(2));
                DType typeB = types.get(random.nextInt(2));
                boolean extreme = turn % 5 == 0;
                int batches = random.nextInt(3);
                Shape a = batches == 0 ? Shape.of(m, k) : Shape.of(batches, m, k);
                Shape b = batches == 0 || random.nextBoolean() ? Shape.of(k, n) : Shape.of(batches, k, n);
                MatMulInteger op = new MatMulInteger(random.nextInt(3) > 0, random.nextBoolean());
                List<NdArray> inputs =
                        new ArrayList<>(List.of(random(typeA, random, a, extreme), random(typeB, random, b, extreme)));
                if (op.zeroPointA()) {
                    inputs.add(random(typeA, random, Shape.of(1), false));
                }
                if (op.zeroPointB()) {
                    inputs.add(random(typeB, random, Shape.of(random.nextBoolean() ? 1 : n), false));
                }
                // the zero point of A comes between B and B's: constant with them, or all given
                int firstConstant = random.nextInt(4) == 0 ? inputs.size() : 1;
                NdArray expected = op.evaluate(inputs).getFirst();
                NdArray found = run.run(op, inputs, firstConstant).getFirst();
                assertThat(found.toConstant()
                                .elements()
                                .mismatch(expected.toConstant().elements()))
                        .as("%s %s x %s %s, %s, constant from %s", typeA, a, typeB, b, op, firstConstant)
                        .isEqualTo(-1);
            }
        }
    }
}
