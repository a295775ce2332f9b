package dev.tenon.cuda.compile;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.TenonException;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.Hash;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import dev.tenon.cuda.store.Store;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Fills the folder that {@link Prebuilt} reads. */
public final class PtxBuilder {
    private PtxBuilder() {}

    /**
     * Compiles every source for every architecture, as many at a time as there are processors, and writes the index
     * last. What was there before is deleted.
     *
     * @param specific sources for one capability alone, which specific forms of {@code machineCode} get beside the
     *     others
     * @param architectures for PTX: the oldest that is to be served, and those with better code of their own
     * @param machineCode for machine code; it serves later capabilities of the same major number too
     * @param cache keeps each file, so that only what has changed is compiled again
     * @throws NativeException when a source does not compile, or the thread is interrupted
     * @throws IOException when the folder cannot be written
     */
    public static void build(
            List<KernelSource> sources,
            List<KernelSource> specific,
            List<Architecture> architectures,
            List<Architecture> machineCode,
            NvccCompiler nvcc,
            KernelCache cache,
            Path folder)
            throws IOException {
        empty(folder);
        List<String> index = new ArrayList<>(List.of(Prebuilt.NOTE + nvcc.name()));
        List<Future<?>> files = new ArrayList<>();
        try (ExecutorService workers =
                Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())) {
            for (KernelSource source : sources) {
                String key = Prebuilt.key(source);
                for (Architecture architecture : architectures) {
                    Path file = folder.resolve(Prebuilt.file(key, architecture, ModuleImage.Format.PTX));
                    files.add(workers.submit(() -> write(file, ptx(source, key, architecture, nvcc, cache))));
                    index.add(key + " " + architecture.compute());
                }
            }
            for (Architecture architecture : machineCode) {
                List<KernelSource> all = new ArrayList<>(sources);
                all.addAll(architecture.specific() ? specific : List.of());
                for (KernelSource source : all) {
                    String key = Prebuilt.key(source);
                    Path file = folder.resolve(Prebuilt.file(key, architecture, ModuleImage.Format.CUBIN));
                    files.add(workers.submit(() -> write(file, machineCode(source, key, architecture, nvcc, cache))));
                    index.add(key + " " + architecture.sm());
                }
            }
            for (Future<?> file : files) {
                await(file, workers);
            }
        }
        Files.write(folder.resolve(Prebuilt.INDEX), index);
    }

    /** Leaves the folder with an index that holds nothing but the reason. */
    public static void buildNothing(Path folder, String reason) throws IOException {
        empty(folder);
        Files.write(folder.resolve(Prebuilt.INDEX), List.of(Prebuilt.NOTE + reason));
    }

    private static void empty(Path folder) throws IOException {
        if (Files.exists(folder)) {
            Store.deleteTree(folder);
        }
        Files.createDirectories(folder);
    }

    private static ModuleImage ptx(
            KernelSource source, String key, Architecture architecture, NvccCompiler nvcc, KernelCache cache) {
        String entry = new Hash()
                .add("prebuilt")
                .add(nvcc.fingerprint())
                .add(key)
                .add(architecture.compute())
                .hex();
        return cache.read(entry, source.name()).orElseGet(() -> cache.write(entry, nvcc.ptx(source, architecture)));
    }

    private static ModuleImage machineCode(
            KernelSource source, String key, Architecture architecture, NvccCompiler nvcc, KernelCache cache) {
        String entry = new Hash()
                .add("prebuilt")
                .add(nvcc.fingerprint())
                .add(key)
                .add(architecture.sm())
                .hex();
        return cache.read(entry, source.name()).orElseGet(() -> cache.write(entry, nvcc.compile(source, architecture)));
    }

    private static Path write(Path file, ModuleImage image) throws IOException {
        byte[] text = image.bytes().toArray(ValueLayout.JAVA_BYTE);
        if (image.format() == ModuleImage.Format.CUBIN) {
            return Files.write(file, text);
        }
        int end = text.length > 0 && text[text.length - 1] == 0 ? text.length - 1 : text.length;
        return Files.write(file, Arrays.copyOf(text, end));
    }

    private static void await(Future<?> file, ExecutorService workers) throws IOException {
        try {
            file.get();
        } catch (ExecutionException e) {
            workers.shutdownNow();
            switch (e.getCause()) {
                case IOException fault -> throw fault;
                case TenonException fault -> throw fault;
                case null, default -> throw new NativeException("prebuilt kernels: " + e.getCause(), e);
            }
        } catch (InterruptedException e) {
            workers.shutdownNow();
            Thread.currentThread().interrupt();
            throw new NativeException("interrupted while kernels were built", e);
        }
    }
}
