package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.core.ir.op.contraction.DecodeBlocks;
import dev.tenon.core.ir.op.contraction.DequantMatMul;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Products with packed weights: one row and several, rows of one slice and of several, slices that end early, rows
 * that begin off 16-byte boundaries.
 */
final class PackedCases {
    private static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);

    private PackedCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (BlockFormat format : BlockFormat.values()) {
            for (DType type : FLOATS) {
                for (long[] nk : new long[][] {{1, 256}, {37, 2048}, {19, 2304}, {67, 4352}, {9, 6144}, {300, 512}}) {
                    add(cases, format, type, 1, nk[0], nk[1]);
                }
                for (long rows : new long[] {2, 7, 33}) {
                    add(cases, format, type, rows, 45, 768);
                }
                String what = new DecodeBlocks(format, type) + " of 5 rows";
                cases.add(new KernelCase(
                        "packed",
                        what,
                        stage -> run(stage, new DecodeBlocks(format, type), 1, weights(format, 5, 768))));
            }
            for (long k : new long[] {32, 64, 96, 2080, 7 * 2048, 16 * 2048, 16 * 2048 + 256}) {
                if (k % format.elements() == 0) {
                    add(cases, format, DType.F32, 1, 21, k);
                }
            }
            for (DType type : List.of(DType.F16, DType.BF16)) { // tiles on tensor cores, parts of them, several
                add(cases, format, type, 9, 5, 256);
                add(cases, format, type, 130, 67, 512);
                if (format.elements() == 32) {
                    add(cases, format, type, 64, 64, 96);
                }
            }
            if (format == BlockFormat.Q4_0 || format == BlockFormat.Q4_K) { // tiles of 16 rows, a part of one, several
                for (DType type : List.of(DType.F16, DType.BF16)) {
                    add(cases, format, type, 1, 1, 8192);
                    add(cases, format, type, 1, 16, 8192 + 256);
                    add(cases, format, type, 1, 371, 8192);
                }
            }
        }
        scaled(cases);
        return cases;
    }

    /** Weights of 8 and 4 bits: each kernel, with rows that end its slices and tiles early. */
    private static void scaled(List<KernelCase> cases) {
        long[][] sizes = { // rows of x, rows of the weight, depth, block
            {1, 1, 32, 0},
            {1, 37, 4128, 0},
            {1, 67, 8224, 32},
            {1, 5, 1056, 96},
            {1, 9, 33, 16},
            {1, 300, 512, 64},
            {2, 45, 768, 0},
            {7, 21, 33, 3},
            {9, 5, 16, 0},
            {33, 67, 144, 16},
            {130, 70, 528, 48},
            {12, 9, 40, 8},
            {140, 131, 144, 0},
            {65, 66, 96, 32},
            {1, 5, 8192, 0},
            {1, 17, 8448, 32},
            {1, 371, 8192, 64}
        };
        for (DType type : FLOATS) {
            for (DType q : List.of(DType.I8, DType.U8, DType.I4, DType.U4)) {
                for (long[] size : sizes) {
                    boolean wide = q.isUnsigned() && size[2] > 1000; // without zero points sums would cancel badly
                    boolean zero = (size[1] + q.bits()) % 3 > 0 || size[0] > 100 || wide;
                    ScaledMatMul op = new ScaledMatMul(size[3], zero);
                    String what = op + " " + q + " of " + TensorType.of(type, size[0], size[2]) + " and " + size[1]
                            + " columns";
                    cases.add(new KernelCase(
                            "packed", what, stage -> run(stage, op, size[2], scaled(op, type, q, size))));
                }
            }
        }
    }

    private static NdArray[] scaled(ScaledMatMul op, DType type, DType q, long... size) {
        Random random = new Random(size[0] + size[1] + size[2]);
        int least = q == DType.I8 ? -128 : q == DType.I4 ? -8 : 0;
        int count = 1 << q.bits();
        long blocks = op.blocks(size[2]);
        NdArray scale = CaseArrays.filled(type, () -> (1 + random.nextDouble()) / count, size[1], blocks);
        NdArray x = CaseArrays.normal(random, type, size[0], size[2]);
        NdArray weight = CaseArrays.filled(q, () -> least + random.nextInt(count), size[1], size[2]);
        return op.zeroPoint()
                ? new NdArray[] {
                    x, weight, scale, CaseArrays.filled(q, () -> least + random.nextInt(count), size[1], blocks)
                }
                : new NdArray[] {x, weight, scale};
    }

    private static void add(List<KernelCase> cases, BlockFormat format, DType type, long rows, long n, long k) {
        cases.add(new KernelCase(
                "packed",
                new DequantMatMul(format) + " of " + TensorType.of(type, rows, k) + " and " + n + " columns",
                stage -> {
                    NdArray x = CaseArrays.normal(new Random(rows + n + k), type, rows, k);
                    run(stage, new DequantMatMul(format), k, x, weights(format, n, k));
                }));
    }

    /** Compares with the definition; a sum that cancels is compared by what its terms are. */
    private static void run(KernelStage stage, Primitive op, long reductionLength, NdArray... inputs) {
        StepRun.Result result = new StepRun(stage).run(op, List.of(inputs));
        NdArray expected = Interpreter.run(op, List.of(inputs)).getFirst();
        Tolerance.of(expected.dtype(), reductionLength).check(result.step().tier(), expected, result.output());
    }

    /** Blocks of random bytes whose scales are finite. */
    static NdArray weights(BlockFormat format, long rows, long depth) {
        Random random = new Random(format.bytes() + 31 * rows);
        NdArray packed = NdArray.zeros(DType.U8, rows, depth / format.elements() * format.bytes());
        for (int i = 0; i < packed.size(); i++) {
            packed.set(i, (long) random.nextInt(256));
        }
        for (int block = 0; block < packed.size(); block += format.bytes()) {
            for (int high : highBytes(format)) {
                packed.set(block + high, 0x08L + random.nextInt(8)); // so that elements are below 1
            }
        }
        return packed;
    }

    private static int[] highBytes(BlockFormat format) {
        return switch (format) {
            case Q4_0, Q5_0, Q8_0 -> new int[] {1};
            case Q4_1, Q5_1, Q4_K, Q5_K -> new int[] {1, 3};
            case Q2_K -> new int[] {81, 83};
            case Q3_K -> new int[] {109};
            case Q6_K -> new int[] {209};
        };
    }
}
