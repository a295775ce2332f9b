package dev.tenon.cuda.check;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.options.AdditionOrder;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.blas.BlasHandle;
import dev.tenon.cuda.dnn.Dnn;
import dev.tenon.cuda.kernel.CopyKernel;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.timing.DeviceTiming;
import dev.tenon.cuda.tuning.TrialMemory;
import dev.tenon.cuda.tuning.Tuner;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Times one operation through its lowering on random inputs, without the libraries of matrix products: device time
 * inside a graph, beside a copy of as many bytes. Inputs may be there several times, so that a cache does not hold
 * them.
 */
public final class StepBench {
    private static final int PATTERN = 1 << 20;
    private static final long PAUSE_NANOS = 1_000_000;

    private static final Blas NO_LIBRARIES = Blas.none("not asked");

    private final KernelStage stage;
    private final StepRun steps;
    private final boolean libraries;

    /**
     * Of a stage.
     *
     * @param libraries whether cuDNN may be asked
     */
    public StepBench(KernelStage stage, AdditionOrder additionOrder, boolean libraries) {
        this.stage = stage;
        this.libraries = libraries;
        StepRun fast = new StepRun(stage, NO_LIBRARIES, Precision.FAST);
        this.steps = additionOrder == AdditionOrder.ANY ? fast.inAnyOrder() : fast;
    }

    /**
     * An input.
     *
     * @param type concrete
     * @param limit elements are drawn from 0 to it, without it; normally distributed where it is 0
     * @param value of every element; NaN for random ones
     * @param total what elements sum to, drawn one by one; 0 for any
     * @param weight whether the operation may take it for a constant
     */
    public record Operand(TensorType type, long limit, double value, long total, boolean weight) {
        public static Operand normal(DType dtype, long... sizes) {
            return new Operand(TensorType.of(dtype, sizes), 0, Double.NaN, 0, false);
        }

        public static Operand below(long limit, DType dtype, long... sizes) {
            return new Operand(TensorType.of(dtype, sizes), limit, Double.NaN, 0, false);
        }

        /** So many counts of {@code total} things that fall at random. */
        public static Operand counts(long total, long number) {
            return new Operand(TensorType.of(DType.I32, number), 0, Double.NaN, total, false);
        }

        /** A constant of a model, of one value. */
        public static Operand weight(DType dtype, double value, long... sizes) {
            return new Operand(TensorType.of(dtype, sizes), 0, value, 0, true);
        }

        /** The same as a constant of a model. */
        public Operand asWeight() {
            return new Operand(type, limit, value, total, true);
        }

        public static Operand scalar(DType dtype, double value) {
            return new Operand(TensorType.of(dtype), 0, value, 0, false);
        }
    }

    /**
     * What was measured.
     *
     * @param micros of one run on the device
     * @param copyMicros of a copy that moves as many bytes, read and written together, past the caches where the
     *     operation's operands are
     * @param bytes of inputs and results
     */
    public record Timed(String tier, double micros, double copyMicros, long bytes) {}

    /**
     * Times an operation.
     *
     * @param sets copies of inputs and results, taken in turn
     * @throws UnsupportedException where it has no kernel
     */
    public Timed time(Op op, List<Operand> operands, int sets) {
        GpuContext context = stage.context();
        Tuner tuner = libraries ? Tuner.of(context, TrialMemory.of(context), () -> true) : Tuner.off();
        long workspace = EngineOptions.defaults().libraryWorkspace();
        if (libraries) {
            try (Dnn dnn = Dnn.of(context, tuner, workspace);
                    tuner) { // is closed before the library that it times
                made(steps.with(dnn), op, operands);
                while (!tuner.settled()) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            }
        }
        // as the next process makes it: where a kernel of ours was the fastest, by that
        Tuner later = libraries ? Tuner.of(context, _ -> null, () -> false) : Tuner.off();
        try (Dnn dnn = libraries ? Dnn.of(context, later, workspace) : Dnn.none("not asked");
                later) {
            return time(made(steps.with(dnn), op, operands), operands, sets);
        }
    }

    private static StepRun.Made made(StepRun run, Op op, List<Operand> operands) {
        List<Integer> weights = IntStream.range(0, operands.size())
                .filter(i -> operands.get(i).weight())
                .boxed()
                .toList();
        return run.make(op, operands.stream().map(Operand::type).toList(), weights);
    }

    private Timed time(StepRun.Made made, List<Operand> operands, int sets) {
        GpuStep step = made.step();
        long bytes = Stream.concat(operands.stream().map(Operand::type), made.results().stream())
                .mapToLong(TensorType::bytes)
                .sum();
        GpuStream stream = stage.stream();
        try (BlasHandle handle = NO_LIBRARIES.newHandle(stream)) {
            List<GpuFrame> frames = new ArrayList<>();
            for (int set = 0; set < sets; set++) {
                frames.add(frame(made, operands, handle));
            }
            int[] next = {0};
            double micros = DeviceTiming.inGraph(
                    stage.context(), stream, () -> step.enqueue(frames.get(next[0]++ % frames.size())));
            return new Timed(step.tier(), micros, copy(bytes, sets), bytes);
        } finally {
            stage.release();
        }
    }

    /** As many copies in turn as there are sets, from and to places of their own: a cache holds no more of them. */
    private double copy(long bytes, int sets) {
        long half = Math.max(16, bytes / 2 / 16 * 16);
        DeviceBuffer from = stage.zeroed(half * sets);
        fill(from, Operand.normal(DType.F32, half / 4 * sets));
        DeviceBuffer to = stage.zeroed(half * sets);
        CopyKernel copier = new CopyKernel(stage.modules());
        GpuStream stream = stage.stream();
        long[] next = {0};
        return Math.min(
                DeviceTiming.inGraph(stage.context(), stream, () -> {
                    long at = next[0]++ % sets * half;
                    stream.copy(from, at, to, at, half);
                }),
                DeviceTiming.inGraph(stage.context(), stream, () -> {
                    long at = next[0]++ % sets * half;
                    copier.enqueue(stream, stage.arguments(), from.address() + at, to.address() + at, half);
                }));
    }

    private GpuFrame frame(StepRun.Made made, List<Operand> operands, BlasHandle handle) {
        List<DeviceBuffer> buffers = new ArrayList<>();
        for (Operand operand : operands) {
            DeviceBuffer buffer = stage.zeroed(operand.type().bytes());
            fill(buffer, operand);
            buffers.add(buffer);
        }
        made.results().forEach(type -> buffers.add(stage.zeroed(type.bytes())));
        return steps.frame(made.step(), buffers, stage.zeroed(2 * Long.BYTES), handle);
    }

    private void fill(DeviceBuffer buffer, Operand operand) {
        DType dtype = operand.type().dtype();
        long elements = operand.type().shape().elements();
        Random random = new Random(elements);
        long[] counts = new long[operand.total() == 0 ? 0 : Math.toIntExact(elements)];
        for (long i = 0; i < operand.total(); i++) {
            counts[random.nextInt(counts.length)]++;
        }
        try (Arena scratch = Arena.ofConfined()) {
            long pattern = Math.min(elements, PATTERN);
            MemorySegment host = scratch.allocate(Math.max(1, dtype.bytesFor(pattern)), 16);
            for (long i = 0; i < pattern; i++) {
                if (counts.length > 0) {
                    Elements.setLong(dtype, host, i, counts[(int) i]);
                } else if (!Double.isNaN(operand.value())) {
                    Elements.setDouble(dtype, host, i, operand.value());
                } else if (operand.limit() > 0) {
                    Elements.setLong(dtype, host, i, random.nextLong(operand.limit()));
                } else {
                    Elements.setDouble(dtype, host, i, random.nextGaussian());
                }
            }
            for (long at = 0; at < elements; at += pattern) {
                long count = Math.min(pattern, elements - at);
                stage.stream().copyToDevice(host.asSlice(0, dtype.bytesFor(count)), buffer, dtype.bytesFor(at));
            }
            stage.stream().synchronize();
        }
    }
}
