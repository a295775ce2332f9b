package dev.tenon.cuda.compile;

import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** "Compiles" into text that says what was asked for, and counts. */
final class CountingCompiler implements KernelCompiler {
    final AtomicInteger compilations = new AtomicInteger();
    private final String version;
    private final ModuleImage.Format format;
    private final int padding;

    CountingCompiler(String version, ModuleImage.Format format) {
        this(version, format, 0);
    }

    CountingCompiler(String version, ModuleImage.Format format, int padding) {
        this.version = version;
        this.format = format;
        this.padding = padding;
    }

    static KernelSource source(String name) {
        return new KernelSource(name, "text of " + name, Map.of("a.cuh", "header"), List.of("X=1"));
    }

    /** What {@link #compile} makes. */
    String expected(KernelSource source, Architecture architecture) {
        return version + " " + architecture + " " + source + " ".repeat(padding);
    }

    static String text(ModuleImage image) {
        return new String(image.bytes().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    @Override
    public String name() {
        return "counting " + version;
    }

    @Override
    public String unavailable() {
        return "";
    }

    @Override
    public String fingerprint() {
        return name();
    }

    @Override
    public List<Architecture> architectures() {
        return List.of(new Architecture(8, 0), new Architecture(9, 0));
    }

    @Override
    public ModuleImage compile(KernelSource source, Architecture architecture) {
        compilations.incrementAndGet();
        byte[] bytes = expected(source, architecture).getBytes(StandardCharsets.UTF_8);
        MemorySegment room = CacheEntry.room(bytes.length);
        room.copyFrom(MemorySegment.ofArray(Arrays.copyOf(bytes, bytes.length)));
        return new ModuleImage(source.name(), format, room, null, "a log\nof two lines");
    }
}
