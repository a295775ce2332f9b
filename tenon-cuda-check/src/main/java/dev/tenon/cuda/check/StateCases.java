package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Copy;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.core.ir.op.quantisation.Quantize;
import dev.tenon.core.ir.op.state.Lstm;
import dev.tenon.core.ir.op.state.RnnActivation;
import dev.tenon.core.ir.op.state.RnnDirection;
import dev.tenon.core.ir.op.state.SelectiveScan;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Copies, casts, quantisation and scans at sizes of several blocks. */
final class StateCases {
    private static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);

    private final List<KernelCase> cases = new ArrayList<>();
    private final Random random = new Random(71);

    private StateCases() {}

    static List<KernelCase> all() {
        StateCases all = new StateCases();
        for (DType type : FLOATS) {
            all.add("elementwise", new Copy(), 0, all.array(type, 1025, 33));
            all.add("elementwise", new Cast(DType.I32, false), 0, all.array(type, 1025, 33));
            all.add("elementwise", new Cast(DType.BF16, false), 0, all.array(type, 1025, 33));
            all.quantisation(type);
            all.scan(type);
        }
        // steps, batch, inputs, hidden units
        for (long[] size :
                new long[][] {{3, 5, 20, 24}, {2, 33, 36, 40}, {4, 9, 20, 16}, {3, 37, 12, 44}, {5, 34, 8, 97}}) {
            all.recurrence(size);
        }
        return all.cases;
    }

    /** An LSTM whose inputs go through tensor cores, in TF32. */
    private void recurrence(long... size) {
        Lstm op = new Lstm(
                RnnDirection.FORWARD,
                size[3],
                List.of(RnnActivation.SIGMOID, RnnActivation.TANH, RnnActivation.TANH),
                0,
                false,
                false,
                false,
                false,
                false,
                false,
                false);
        List<NdArray> inputs = List.of(
                array(DType.F32, size[0], size[1], size[2]),
                between(DType.F32, -0.25, 0.25, 1, 4 * size[3], size[2]),
                between(DType.F32, -0.25, 0.25, 1, 4 * size[3], size[3]));
        String what = "lstm of " + size[1] + " sequences of " + size[2] + " inputs, " + size[3] + " units, in TF32";
        cases.add(new KernelCase("recurrent", what, stage -> {
            StepRun.Result result = new StepRun(stage, Blas.none("not asked"), Precision.FAST).run(op, inputs);
            List<NdArray> expected = Interpreter.run(op, inputs);
            Tolerance base = Tolerance.of(DType.F32, size[2] + size[3]);
            // operands lie around 1 and are rounded to 11 bits; a gate's slope is at most 1
            Tolerance near = new Tolerance(base.relative(), base.absolute() + 0x1p-9);
            for (int i = 0; i < expected.size(); i++) {
                near.check(
                        result.step().tier(), expected.get(i), result.outputs().get(i));
            }
        }));
    }

    private NdArray array(DType type, long... sizes) {
        return CaseArrays.normal(random, type, sizes);
    }

    private NdArray between(DType type, double from, double to, long... sizes) {
        return CaseArrays.filled(type, () -> from + (to - from) * random.nextDouble(), sizes);
    }

    private void quantisation(DType type) {
        NdArray one = NdArray.of(TensorType.of(type), 0.25);
        NdArray rows = between(type, 0.125, 0.5, 67);
        NdArray q = CaseArrays.filled(DType.I8, () -> random.nextInt(256) - 128, 67, 513);
        add("quantisation", new Dequantize(0, 0, false), 1, q, one);
        add("quantisation", new Dequantize(0, 0, false), 1, q, rows);
        if (type != DType.F64) {
            // steps of a power of two: no quotient lies between two integers by rounding alone
            add("quantisation", new Quantize(DType.I8, 0, 0, false), 0, array(type, 67, 513), one);
        }
    }

    private void scan(DType type) {
        add(
                "state",
                new SelectiveScan(false, false),
                64,
                array(type, 2, 65, 130),
                between(type, 0.0625, 0.5, 2, 65, 130),
                between(type, -2, -0.0625, 130, 16),
                array(type, 2, 65, 16),
                array(type, 2, 65, 16));
    }

    private void add(String kernel, Primitive op, long reductionLength, NdArray... inputs) {
        List<NdArray> all = List.of(inputs);
        String what = op + " of "
                + String.join(
                        " ", all.stream().map(input -> input.type().toString()).toList());
        cases.add(new KernelCase(kernel, what, stage -> {
            StepRun.Result result = new StepRun(stage).run(op, all);
            NdArray expected = Interpreter.run(op, all).getFirst();
            Tolerance tolerance =
                    reductionLength == 0 ? Tolerance.EXACT : Tolerance.of(expected.dtype(), reductionLength);
            tolerance.check(result.step().tier(), expected, result.output());
        }));
    }
}
