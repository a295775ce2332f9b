package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.normalisation.BatchNorm;
import dev.tenon.core.ir.op.normalisation.GroupNorm;
import dev.tenon.core.ir.op.normalisation.Hardmax;
import dev.tenon.core.ir.op.normalisation.InstanceNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.LocalResponseNorm;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.LpNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.Softmax;
import java.util.ArrayList;
import java.util.List;

/** Softmax and the norms, composite ones too. */
final class OpCasesNormalisation {
    private static final double NAN = Double.NaN;
    private static final double INF = Double.POSITIVE_INFINITY;

    /** Widths around warps, vectors and tiles. */
    private static final long[] WIDTHS = {1, 2, 3, 5, 31, 32, 33, 63, 65, 127, 255, 257, 511, 513, 781, 1023, 1025, 4097
    };

    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(3);

    private OpCasesNormalisation() {}

    static List<OpCase> all() {
        OpCasesNormalisation all = new OpCasesNormalisation();
        all.softmax();
        all.layerNorm();
        all.rmsNorm();
        all.channels();
        all.localResponse();
        all.lpAndHardmax();
        return List.copyOf(all.cases);
    }

    private void softmax() {
        for (DType type : OpCases.FLOATS) {
            for (long width : WIDTHS) {
                both("3x" + width + " " + type, 1, logarithms(type, 3, width));
            }
            both("axis 0 " + type, 0, random.floats(type, -4, 4, 31, 5));
            both("middle axis " + type, 1, random.floats(type, -4, 4, 2, 7, 3));
        }
        both(
                "bad rows",
                1,
                OpCases.f32(
                        new long[] {6, 4},
                        -INF,
                        -INF,
                        -INF,
                        -INF,
                        0,
                        -INF,
                        0,
                        -INF,
                        0,
                        INF,
                        0,
                        0,
                        NAN,
                        0,
                        0,
                        0,
                        1e4,
                        1e4,
                        -1e4,
                        0,
                        0,
                        0,
                        0,
                        0));
        both("f16 edges", 0, NdArray.of(TensorType.of(DType.F16, 4), 65504.0, 65504, 0, -65504));
        both("one column", 1, OpCases.f32(new long[] {3, 1}, 7, -1e30, -INF));
        both("long f16 row", 1, NdArray.zeros(DType.F16, 1, 70000));
        both("no rows", 1, NdArray.zeros(DType.F32, 0, 5));
        both("no columns", 1, NdArray.zeros(DType.F32, 5, 0));
        both("empty columns", 0, NdArray.zeros(DType.F32, 5, 0));
    }

    private void both(String name, int axis, NdArray x) {
        long length = x.shape().size(axis);
        cases.add(OpCase.sums("softmax " + name, length, new Softmax(axis), x));
        cases.add(OpCase.sums("log_softmax " + name, length, new LogSoftmax(axis), x));
    }

    /** Element j of a row is ln(j + 1), so its probability is (j+1) / (n(n+1)/2). */
    private static NdArray logarithms(DType type, long rows, long columns) {
        double[] values = new double[(int) (rows * columns)];
        for (int i = 0; i < values.length; i++) {
            values[i] = Math.log(i % (int) columns + 1);
        }
        return NdArray.of(TensorType.of(type, rows, columns), values);
    }

    private void layerNorm() {
        for (DType type : OpCases.FLOATS) {
            for (long width : new long[] {2, 31, 33, 384, 1025}) {
                cases.add(OpCase.sums(
                        "layer_norm 5x" + width + " " + type,
                        width,
                        new LayerNorm(1, 1e-5, true, true),
                        random.array(type, 5, width),
                        random.array(type, width),
                        random.array(type, width)));
            }
            NdArray x = random.array(type, 2, 3, 5, 7);
            cases.add(OpCase.sums("layer_norm bare " + type, 35, new LayerNorm(2, 1e-5, false, false), x));
            cases.add(OpCase.sums(
                    "layer_norm broadcast scale " + type,
                    35,
                    new LayerNorm(2, 1e-5, true, false),
                    x,
                    random.array(type, 5, 1)));
        }
        NdArray ones = NdArray.of(TensorType.of(DType.F32, 1), 1.0);
        LayerNorm scaled = new LayerNorm(1, 1e-5, true, false);
        cases.add(OpCase.sums(
                "layer_norm of a large mean",
                4,
                scaled,
                OpCases.f32(new long[] {1, 4}, 40000, 40001, 40002, 40003),
                ones));
        double[] constant = new double[256];
        java.util.Arrays.fill(constant, 1234.0);
        NdArray row = OpCases.f32(new long[] {1, 256}, constant);
        cases.add(OpCase.exact("layer_norm of a constant", scaled, row, ones));
        cases.add(OpCase.exact(
                "layer_norm of a constant with bias", new LayerNorm(1, 1e-5, false, true), row, OpCases.f32(0.25)));
        cases.add(OpCase.sums(
                "layer_norm of bad rows",
                3,
                new LayerNorm(1, 1e-5, false, false),
                OpCases.f32(new long[] {3, 3}, NAN, 1, 2, INF, 1, 2, 1, 2, 4)));
        cases.add(OpCase.exact(
                "layer_norm of no rows", new LayerNorm(1, 1e-5, false, false), NdArray.zeros(DType.F32, 0, 3)));
        cases.add(OpCase.exact(
                "layer_norm of no columns", new LayerNorm(1, 1e-5, false, false), NdArray.zeros(DType.F32, 3, 0)));
    }

    private void rmsNorm() {
        for (DType type : OpCases.FLOATS) {
            for (long width : new long[] {1, 31, 33, 256, 1025}) {
                cases.add(OpCase.sums(
                        "rms_norm 5x" + width + " " + type,
                        width,
                        new RmsNorm(1, 1e-6, true),
                        random.array(type, 5, width),
                        random.array(type, width)));
            }
            cases.add(
                    OpCase.sums("rms_norm bare " + type, 21, new RmsNorm(1, 1e-6, false), random.array(type, 2, 3, 7)));
        }
        cases.add(OpCase.exact("rms_norm of zeros", new RmsNorm(1, 1e-6, false), NdArray.zeros(DType.F32, 2, 3)));
        cases.add(OpCase.exact("rms_norm of no rows", new RmsNorm(1, 1e-6, false), NdArray.zeros(DType.F32, 0, 3)));
    }

    private void channels() {
        for (DType type : OpCases.FLOATS) {
            for (long[] sizes : new long[][] {{2, 6, 5, 7}, {1, 6, 33}, {3, 6, 2, 3, 5}, {0, 6, 4}}) {
                NdArray x = random.array(type, sizes);
                NdArray scale = random.array(type, 6);
                NdArray bias = random.array(type, 6);
                NdArray mean = random.array(type, 6);
                NdArray variance = random.floats(type, 0.25, 4, 6);
                String shape = " " + x.type();
                cases.add(OpCase.sums("instance_norm" + shape, 35, new InstanceNorm(1e-5), x, scale, bias));
                cases.add(OpCase.close("batch_norm" + shape, new BatchNorm(1e-5), x, scale, bias, mean, variance));
                for (long groups : new long[] {1, 2, 6}) {
                    cases.add(OpCase.sums(
                            "group_norm " + groups + shape, 210, new GroupNorm(groups, 1e-5), x, scale, bias));
                }
            }
        }
        for (DType type : OpCases.FLOATS) {
            // rows off boundaries, one element, long rows that are few
            for (long[] sizes : new long[][] {{2, 3, 33}, {3, 2, 1}, {1, 1, 70_001}, {1, 2, 3, 1031}}) {
                NdArray x = random.array(type, sizes);
                cases.add(OpCase.sums(
                        "instance_norm " + x.type(),
                        sizes[sizes.length - 1],
                        new InstanceNorm(1e-3),
                        x,
                        random.array(type, sizes[1]),
                        random.array(type, sizes[1])));
            }
            cases.add(OpCase.sums(
                    "local_response_norm long " + type,
                    9,
                    new LocalResponseNorm(9, 0.5, 0.75, 2),
                    random.array(type, 2, 33, 17)));
        }
        cases.add(OpCase.close(
                "batch_norm rank 2",
                new BatchNorm(1e-5),
                random.array(DType.F32, 5, 3),
                random.array(DType.F32, 3),
                random.array(DType.F32, 3),
                random.array(DType.F32, 3),
                random.floats(DType.F32, 0.25, 4, 3)));
    }

    private void localResponse() {
        for (DType type : OpCases.FLOATS) {
            for (long size : new long[] {1, 2, 3, 4, 9}) {
                cases.add(OpCase.sums(
                        "local_response_norm " + size + " " + type,
                        size,
                        new LocalResponseNorm(size, 0.5, 0.75, 2),
                        random.array(type, 2, 5, 3, 2)));
            }
        }
        cases.add(OpCase.exact(
                "local_response_norm of nothing",
                new LocalResponseNorm(3, 1e-4, 0.75, 1),
                NdArray.zeros(DType.F32, 2, 0, 3)));
    }

    private void lpAndHardmax() {
        for (DType type : OpCases.FLOATS) {
            for (int axis = 0; axis < 3; axis++) {
                NdArray x = random.array(type, 3, 33, 2);
                cases.add(OpCase.sums("lp_norm 1 axis " + axis + " " + type, 33, new LpNorm(axis, 1), x));
                cases.add(OpCase.sums("lp_norm 2 axis " + axis + " " + type, 33, new LpNorm(axis, 2), x));
                cases.add(OpCase.exact(
                        "hardmax axis " + axis + " " + type, new Hardmax(axis), random.shuffled(type, 3, 33, 2)));
            }
        }
        cases.add(OpCase.exact("lp_norm of zeros", new LpNorm(1, 2), NdArray.zeros(DType.F32, 2, 3)));
        cases.add(OpCase.exact("hardmax of ties", new Hardmax(0), OpCases.f32(1, 3, 3, 2)));
        cases.add(OpCase.exact("hardmax of NaN", new Hardmax(0), OpCases.f32(1, INF, NAN, 2)));
        cases.add(OpCase.exact("hardmax of no columns", new Hardmax(1), NdArray.zeros(DType.F32, 2, 0)));
    }
}
