package dev.tenon.cli.bench;

import dev.tenon.cli.console.Samples;
import dev.tenon.cuda.kernel.CopyKernel;
import dev.tenon.cuda.kernel.KernelModules;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.PinnedBuffer;
import java.lang.foreign.Arena;

/** Launches and replays of tiny kernels without a model around them. Used by one thread. */
final class LaunchBench implements AutoCloseable {
    private static final long BYTES = 256;

    private final KernelModules modules;
    private final CopyKernel kernel;
    private final MeasureOptions measuring;
    private final Arena arena = Arena.ofShared();
    private final KernelArguments arguments = new KernelArguments(arena);
    private final GpuStream stream;
    private final DeviceBuffer x;
    private final DeviceBuffer y;
    private final PinnedBuffer host;

    LaunchBench(GpuContext context, KernelCompiler compiler, MeasureOptions measuring) {
        this.modules = new KernelModules(context, compiler);
        this.kernel = new CopyKernel(modules);
        this.measuring = measuring;
        this.stream = context.newStream();
        this.x = context.allocate(BYTES);
        this.y = context.allocate(BYTES);
        this.host = context.allocatePinned(4 * BYTES);
        stream.fill(x, 0, BYTES, (byte) 0);
        stream.synchronize();
    }

    private void enqueue(int kernels) {
        for (int i = 0; i < kernels; i++) {
            DeviceBuffer from = i % 2 == 0 ? x : y;
            kernel.enqueue(stream, arguments, from.address(), (i % 2 == 0 ? y : x).address(), BYTES);
        }
    }

    private ExecutableGraph recorded(int kernels) {
        stream.beginCapture();
        try {
            enqueue(kernels);
        } catch (RuntimeException | Error e) {
            stream.abortCapture();
            throw e;
        }
        try (CapturedGraph captured = stream.endCapture()) {
            return captured.instantiate();
        }
    }

    /** The host's time to launch kernels one by one, the device's wait left out. */
    Samples launches(int kernels) {
        return enqueuing(() -> enqueue(kernels));
    }

    /** The host's time to launch the same work recorded. */
    Samples replays(int kernels) {
        try (ExecutableGraph graph = recorded(kernels)) {
            return enqueuing(() -> stream.launch(graph));
        }
    }

    private Samples enqueuing(Runnable work) {
        return Samples.measure(
                _ -> {
                    long before = System.nanoTime();
                    work.run();
                    long after = System.nanoTime();
                    stream.synchronize();
                    return new double[] {(after - before) / 1e3};
                },
                1,
                measuring.runs,
                measuring.seconds);
    }

    /** What a recorded run of one kernel takes at least: a copy in, a replay, a copy out, a wait. */
    Samples floor() {
        try (ExecutableGraph graph = recorded(1)) {
            return Samples.measure(
                    () -> {
                        stream.copyToDevice(host.segment().asSlice(0, BYTES), x, 0);
                        stream.launch(graph);
                        stream.copyToHost(y, 0, host.segment().asSlice(BYTES, BYTES));
                        stream.synchronize();
                    },
                    measuring.runs,
                    measuring.seconds);
        }
    }

    @Override
    public void close() {
        stream.close();
        x.close();
        y.close();
        host.close();
        modules.close();
        arena.close();
    }
}
