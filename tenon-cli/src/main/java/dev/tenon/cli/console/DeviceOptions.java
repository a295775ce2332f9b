package dev.tenon.cli.console;

import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.runtime.Target;
import picocli.CommandLine.Option;

/** Where to run. */
public final class DeviceOptions {
    @Option(
            names = "--device",
            paramLabel = "D",
            defaultValue = "best",
            converter = Values.Device.class,
            description = "cpu, cuda, cuda:N, emulator or best (the default).")
    String device = "best";

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "0",
            converter = Values.Threads.class,
            description = "Worker threads of the CPU backend; up to 4096; 0 (the default): one a core.")
    public int threads;

    @Option(
            names = "--memory-limit",
            paramLabel = "BYTES",
            defaultValue = "0",
            converter = Values.Size.class,
            description = "Cap on the bytes held on the device; 0 (the default): none.")
    long memoryLimit;

    @Option(
            names = "--library-workspace",
            paramLabel = "BYTES",
            defaultValue = "33554432",
            converter = Values.Size.class,
            description = "What one convolution or attention by cuDNN may work in; 33554432 (32 MiB) by default.")
    long libraryWorkspace;

    public Target target() {
        return Target.parse(device);
    }

    public EngineOptions options() {
        EngineOptions options = EngineOptions.defaults().withThreads(threads).withLibraryWorkspace(libraryWorkspace);
        return memoryLimit == 0 ? options : options.withMemoryLimit(memoryLimit);
    }
}
