package dev.tenon.cli.bench;

import dev.tenon.cli.console.Samples;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.cuda.kernel.Affine;
import dev.tenon.cuda.kernel.CopyKernel;
import dev.tenon.cuda.kernel.KernelModules;
import dev.tenon.cuda.kernel.RowKernels;
import dev.tenon.cuda.kernel.RowRule;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.timing.DeviceTiming;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Measures a row kernel on one open device. */
final class RowBench implements AutoCloseable {
    private static final double EPSILON = 1e-5;
    private static final int PATTERN = 1 << 20; // random elements, repeated over larger inputs

    private final GpuContext context;
    private final KernelModules modules;
    private final RowKernels kernels;
    private final CopyKernel copier;
    private final RowRule rule;
    private final DType dtype;
    private final int runs;
    private final double seconds;
    private final Arena arena = Arena.ofShared();
    private final KernelArguments arguments = new KernelArguments(arena);
    private final GpuStream stream;

    /**
     * @param host microseconds of a launch and a wait
     * @param deviceMicros inside a graph
     * @param copyMicros of copying the same bytes, read and written, inside a graph
     */
    record Measured(
            long rows,
            long cols,
            String variant,
            String form,
            Samples host,
            double deviceMicros,
            double copyMicros,
            long bytes) {
        double gigabytesPerSecond() {
            return bytes / deviceMicros / 1e3;
        }

        double shareOfCopy() {
            return copyMicros / deviceMicros;
        }
    }

    RowBench(GpuContext context, KernelCompiler compiler, RowRule rule, DType dtype, int runs, double seconds) {
        this.context = context;
        this.modules = new KernelModules(context, compiler);
        this.kernels = new RowKernels(modules);
        this.copier = new CopyKernel(modules);
        this.rule = rule;
        this.dtype = dtype;
        this.runs = runs;
        this.seconds = seconds;
        this.stream = context.newStream();
    }

    /** One launch of the fast form, over zeros, and a wait. */
    void once(long rows, long cols) {
        long bytes = rows * cols * dtype.bytes();
        RowKernels.Rows launch = kernels.rows(rule, dtype, rows, cols, true);
        try (DeviceBuffer x = zeroed(bytes);
                DeviceBuffer y = context.allocate(bytes);
                DeviceBuffer weights = zeroed(cols * dtype.bytes());
                DeviceBuffer state = context.allocate(Math.max(1, launch.plan().stateBytes()));
                DeviceBuffer counters = zeroed(Math.max(1, launch.plan().counterBytes()))) {
            enqueue(launch, x, weights, weights, y, state, counters);
            stream.synchronize();
        }
    }

    /** The fast form, the plain one where there is one, and the copy. */
    List<Measured> measure(long rows, long cols) {
        long bytes = rows * cols * dtype.bytes();
        List<Measured> measured = new ArrayList<>();
        RowKernels.Rows launch = kernels.rows(rule, dtype, rows, cols, true);
        try (DeviceBuffer x = random(bytes);
                DeviceBuffer y = context.allocate(bytes);
                DeviceBuffer gamma = random(cols * dtype.bytes());
                DeviceBuffer beta = random(cols * dtype.bytes());
                DeviceBuffer state = context.allocate(Math.max(1, launch.plan().stateBytes()));
                DeviceBuffer counters = zeroed(Math.max(1, launch.plan().counterBytes()))) {
            double copy = Math.min(
                    DeviceTiming.inGraph(context, stream, () -> stream.copy(x, 0, y, 0, bytes)),
                    DeviceTiming.inGraph(
                            context, stream, () -> copier.enqueue(stream, arguments, x.address(), y.address(), bytes)));
            Runnable once = () -> enqueue(launch, x, gamma, beta, y, state, counters);
            RowKernels.Rows overlapping = launch.plan().blocks() == 1 ? launch.overlapping() : launch;
            Runnable inGraph = () -> enqueue(overlapping, x, gamma, beta, y, state, counters);
            String form = launch.plan().entry() + ", " + launch.plan().reason();
            measured.add(measured(rows, cols, "fast", form, once, once, copy, bytes));
            measured.add(measured(rows, cols, "overlapping", form, inGraph, inGraph, copy, bytes));
            if (rule == RowRule.SOFTMAX) {
                RowKernels.ThreePass plain = kernels.threePass(dtype, rows, cols);
                Runnable work = () -> plain.enqueue(stream, arguments, x.address(), y.address());
                measured.add(measured(rows, cols, "three_pass", "softmax_three_pass", work, work, copy, bytes));
            }
        }
        return measured;
    }

    private void enqueue(
            RowKernels.Rows launch,
            DeviceBuffer x,
            DeviceBuffer gamma,
            DeviceBuffer beta,
            DeviceBuffer y,
            DeviceBuffer state,
            DeviceBuffer counters) {
        launch.enqueue(
                stream,
                arguments,
                x.address(),
                new Affine(gamma.address(), beta.address(), EPSILON),
                y.address(),
                state.address(),
                counters.address());
    }

    private Measured measured(
            long rows,
            long cols,
            String variant,
            String form,
            Runnable once,
            Runnable inGraph,
            double copy,
            long bytes) {
        Samples host = Samples.measure(
                () -> {
                    once.run();
                    stream.synchronize();
                },
                runs,
                seconds);
        return new Measured(
                rows, cols, variant, form, host, DeviceTiming.inGraph(context, stream, inGraph), copy, 2 * bytes);
    }

    private DeviceBuffer zeroed(long bytes) {
        DeviceBuffer buffer = context.allocate(bytes);
        stream.fill(buffer, 0, bytes, (byte) 0);
        return buffer;
    }

    private DeviceBuffer random(long bytes) {
        DeviceBuffer buffer = context.allocate(bytes);
        Random random = new Random(7);
        try (Arena scratch = Arena.ofConfined()) {
            long pattern = Math.min(bytes, (long) PATTERN * dtype.bytes());
            MemorySegment host = scratch.allocate(pattern, 16);
            for (long i = 0; i < pattern / dtype.bytes(); i++) {
                Elements.setDouble(dtype, host, i, random.nextGaussian());
            }
            for (long at = 0; at < bytes; at += pattern) {
                stream.copyToDevice(host.asSlice(0, Math.min(pattern, bytes - at)), buffer, at);
            }
            stream.synchronize();
        }
        return buffer;
    }

    @Override
    public void close() {
        stream.close();
        modules.close();
        arena.close();
    }
}
