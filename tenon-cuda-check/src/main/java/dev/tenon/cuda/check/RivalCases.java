package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.dnn.Dnn;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.tuning.Rival;
import dev.tenon.cuda.tuning.Tunable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** What is timed beside a library's algorithms makes what the operation does. */
final class RivalCases {
    private static final long MANY = 32;
    private static final long FEW = 3;
    private static final long OUTPUTS = 48;
    private static final long CELLS = 9;

    private RivalCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (DType type : List.of(DType.F32, DType.F16, DType.BF16)) {
            for (Epilogue epilogue : List.of(
                    Epilogue.NONE,
                    Epilogue.NONE
                            .withBias()
                            .withActivation(Unary.of(UnaryFn.RELU))
                            .withResidual())) {
                for (long channels : new long[] {MANY, FEW}) {
                    String what = type + " of " + channels + " channels beside a library, " + epilogue;
                    cases.add(new KernelCase("conv", what, stage -> check(stage, type, channels, epilogue)));
                }
            }
        }
        return cases;
    }

    private static void check(KernelStage stage, DType type, long channels, Epilogue epilogue) {
        List<Long> one = List.of(1L, 1L);
        ChannelsLastConv conv = new ChannelsLastConv(new Conv(one, one, one, one, 1, epilogue));
        Random random = new Random(3);
        List<NdArray> inputs = new ArrayList<>();
        inputs.add(ConvCases.normal(random, TensorType.of(type, 2, 9, 8, channels), 1));
        inputs.add(ConvCases.normal(random, TensorType.of(type, OUTPUTS, 3, 3, channels), 0.06));
        TensorType result = TensorType.of(type, 2, 9, 8, OUTPUTS);
        if (epilogue.bias()) {
            inputs.add(ConvCases.normal(random, TensorType.of(type, OUTPUTS), 1));
        }
        if (epilogue.residual()) {
            inputs.add(ConvCases.normal(random, result, 1));
        }
        // a library that is there, and refuses everything
        StepRun run = new StepRun(stage, Blas.none("not asked"), Precision.FAST).with(Dnn.none(""));
        Rival rival = run.make(conv, inputs.stream().map(NdArray::type).toList())
                .rivals()
                .getFirst();
        List<@Nullable NdArray> operands = new ArrayList<>(inputs.subList(0, 2));
        operands.add(epilogue.bias() ? inputs.get(2) : null);
        operands.add(epilogue.residual() ? inputs.getLast() : null);
        List<TensorType> types =
                List.of(inputs.get(0).type(), inputs.get(1).type(), TensorType.of(type, OUTPUTS), result);
        NdArray y = tried(stage, rival, operands, types, result);
        if (!rival.rehearse()) {
            throw new AssertionError("kernels that have just run are not at hand");
        }
        Tolerance base = Tolerance.of(type, channels * CELLS);
        double step = type == DType.F32 ? 4 * Tolerance.epsilon(DType.F16) : 0; // TF32
        new Tolerance(base.relative() + step, base.absolute() + step)
                .check(Rival.ALGORITHM, Interpreter.run(conv, inputs).getFirst(), y);
    }

    /**
     * What a rival's trial makes.
     *
     * @param operands null for those that the operation does not have
     * @param types of the operands; the result follows them
     */
    static NdArray tried(
            KernelStage stage,
            Rival rival,
            List<@Nullable NdArray> operands,
            List<TensorType> types,
            TensorType result) {
        DeviceBuffer memory = stage.poisoned(rival.trialBytes());
        long at = 0;
        for (int i = 0; i < operands.size(); i++) {
            at = upload(stage, memory, at, operands.get(i), types.get(i));
        }
        try (Tunable.Trial trial = rival.trial()) {
            if (!trial.prepare()) {
                throw new AssertionError("the rival cannot run");
            }
            for (int i = 0; i < 2; i++) {
                trial.enqueue(stage.stream(), memory);
            }
            stage.stream().synchronize();
        }
        return download(stage, memory, at, result);
    }

    /** Where the next operand lies. */
    private static long upload(KernelStage stage, DeviceBuffer to, long at, @Nullable NdArray values, TensorType type) {
        if (values != null) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment host = arena.allocate(type.bytes(), 16);
                values.write(host);
                stage.stream().copyToDevice(host, to, at);
            }
        }
        return at + Tunable.whole(type.bytes());
    }

    private static NdArray download(KernelStage stage, DeviceBuffer from, long at, TensorType type) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment host = arena.allocate(type.bytes(), 16);
            stage.stream().copyToHost(from, at, host);
            stage.stream().synchronize();
            return NdArray.read(type, host);
        }
    }
}
