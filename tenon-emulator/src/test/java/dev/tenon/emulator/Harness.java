package dev.tenon.emulator;

import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuModule;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.ImageRejected;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.cuda.port.ModuleImage;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;

/** An emulated device with one test file's kernels loaded. */
final class Harness implements AutoCloseable {
    private static final Map<String, ModuleImage> IMAGES = new ConcurrentHashMap<>();
    private static final AtomicInteger SKIPPED = new AtomicInteger();

    final GpuContext context;
    final GpuStream stream;
    final GpuModule module;
    final Arena arena = Arena.ofShared();
    final KernelArguments arguments = new KernelArguments(arena);

    Harness(String file, EmulatorOptions options) {
        context = new EmulatorDriver(options).open(0);
        stream = context.newStream();
        module = load(context, image(file, options.checked()));
    }

    static EmulatorOptions options(boolean checked) {
        return EmulatorOptions.of(Map.of()).withChecked(checked).withWorkers(2).withMemoryBytes(64 << 20);
    }

    /** Skips the class, and says so, where there is no C++ compiler. */
    static void require() {
        String why = Toolchain.unavailable();
        if (!why.isEmpty()) {
            System.out.println("emulator: " + SKIPPED.incrementAndGet() + " test class(es) skipped: " + why);
        }
        Assumptions.assumeTrue(why.isEmpty(), why);
    }

    static String text(String file) {
        try (InputStream in = Harness.class.getResourceAsStream(file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static ModuleImage image(String file, boolean checked) {
        return IMAGES.computeIfAbsent(
                file + checked,
                _ -> new EmulatorCompiler(checked)
                        .compile(
                                new KernelSource(file, text(file), Map.of(), List.of()),
                                EmulatorCompiler.ARCHITECTURE));
    }

    static GpuModule load(GpuContext context, ModuleImage image) {
        try {
            return context.load(image);
        } catch (ImageRejected e) {
            throw new AssertionError(e);
        }
    }

    /** The line that a comment {@code // LINE name} marks. */
    static int line(String file, String name) {
        List<String> lines = text(file).lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).endsWith("// LINE " + name)) {
                return i + 1;
            }
        }
        return -1;
    }

    DeviceBuffer upload(int... values) {
        return upload(MemorySegment.ofArray(values));
    }

    DeviceBuffer upload(float... values) {
        return upload(MemorySegment.ofArray(values));
    }

    DeviceBuffer upload(short... values) {
        return upload(MemorySegment.ofArray(values));
    }

    DeviceBuffer upload(MemorySegment values) {
        DeviceBuffer buffer = context.allocate(values.byteSize());
        stream.copyToDevice(values, buffer, 0);
        return buffer;
    }

    int[] ints(DeviceBuffer buffer) {
        int[] values = new int[(int) (buffer.bytes() / Integer.BYTES)];
        stream.copyToHost(buffer, 0, MemorySegment.ofArray(values));
        return values;
    }

    float[] floats(DeviceBuffer buffer) {
        float[] values = new float[(int) (buffer.bytes() / Float.BYTES)];
        stream.copyToHost(buffer, 0, MemorySegment.ofArray(values));
        return values;
    }

    short[] shorts(DeviceBuffer buffer) {
        short[] values = new short[(int) (buffer.bytes() / Short.BYTES)];
        stream.copyToHost(buffer, 0, MemorySegment.ofArray(values));
        return values;
    }

    /** Enqueues a kernel; arguments are buffers, ints, longs, floats or doubles. */
    void launch(String kernel, LaunchShape shape, Object... values) {
        arguments.clear();
        for (Object value : values) {
            switch (value) {
                case DeviceBuffer buffer -> arguments.add(buffer);
                case Integer number -> arguments.add(number.intValue());
                case Long number -> arguments.add(number.longValue());
                case Float number -> arguments.add(number.floatValue());
                case Double number -> arguments.add(number.doubleValue());
                default -> throw new IllegalArgumentException(String.valueOf(value));
            }
        }
        stream.launch(module.function(kernel), shape, arguments);
    }

    void run(String kernel, LaunchShape shape, Object... values) {
        launch(kernel, shape, values);
        stream.synchronize();
    }

    @Override
    public void close() {
        context.close();
        arena.close();
    }
}
