package dev.tenon.emulator;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.lazy.Lazy;
import dev.tenon.core.lazy.LazyMap;
import dev.tenon.cuda.compile.HostCommand;
import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.compile.Workshop;
import dev.tenon.cuda.port.Hash;
import dev.tenon.cuda.port.ModuleImage;
import dev.tenon.nativelib.emulated.EmulatorLibrary;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The compiler of this host and the runtime object built with it: once for each content, kept in the kernel cache. One
 * for the process.
 */
final class Toolchain {
    private static final List<String> RUNTIME_OPTIONS = List.of(
            "-std=c++20",
            "-O3",
            "-g1",
            "-fPIC",
            "-fno-exceptions",
            "-fno-rtti",
            "-fvisibility=hidden",
            "-ftls-model=initial-exec",
            "-fno-stack-protector",
            "-ffp-contract=off",
            "-shared",
            "-Wl,-z,defs",
            "-pthread");

    private static final Lazy<CxxCompiler.Search> SEARCH = new Lazy<>() {
        @Override
        protected CxxCompiler.Search make() {
            return CxxCompiler.search(System.getenv());
        }
    };
    private static final Lazy<HostProcessor> PROCESSOR = new Lazy<>() {
        @Override
        protected HostProcessor make() {
            return HostProcessor.detect();
        }
    };

    /**
     * Runtime objects by their names, each written once: kernels find their runtime by name, so a second file of one
     * name, after an attempt that the heap had no room for, would be loaded beside the first and never be told of a
     * kernel.
     */
    private static final LazyMap<String, Path> RUNTIMES = new LazyMap<>();

    private static final Kept<Toolchain> BUILT = new Kept<>() {
        @Override
        Toolchain make() {
            return new Toolchain(compiler());
        }
    };

    private final CxxCompiler compiler;
    private final String soname;
    private final Path object;
    private final EmulatorLibrary library;

    /**
     * Builds the runtime, or takes it from the cache.
     *
     * @throws NativeException when the compiler does not make it or the host does not load it
     */
    Toolchain(CxxCompiler compiler) {
        this.compiler = compiler;
        String key = runtimeKey(compiler);
        soname = "libtenon-emulator-" + key.substring(0, 16) + ".so";
        KernelCache cache = KernelCache.standard();
        ModuleImage image = cache.read(key, "emulator runtime").orElseGet(() -> cache.write(key, build()));
        object = RUNTIMES.get(soname, () -> write(soname, image.bytes()));
        library = loaded(object, () -> new EmulatorLibrary(object));
    }

    /**
     * What {@code load} gives for a file of the temporary folder.
     *
     * @throws NativeException that names the fix where the folder may not hold code
     */
    static <T> T loaded(Path file, Supplier<T> load) {
        try {
            return load.get();
        } catch (NativeException e) {
            if (!Mounts.noexec(file)) {
                throw e;
            }
            throw new NativeException(
                    "emulator: the temporary folder " + System.getProperty("java.io.tmpdir")
                            + " is mounted noexec, so that no kernel can be loaded from it; name another folder with"
                            + " -Djava.io.tmpdir=FOLDER (for the tenon command, in TENON_JAVA_OPTS)",
                    e);
        }
    }

    /** Why nothing can be compiled; empty where it can. */
    static String unavailable() {
        return SEARCH.get().why();
    }

    /** @throws UnsupportedException where {@link #unavailable} says why */
    static CxxCompiler compiler() {
        if (SEARCH.get().found().isEmpty()) {
            throw new UnsupportedException(unavailable());
        }
        return SEARCH.get().found().getFirst();
    }

    static HostProcessor processor() {
        return PROCESSOR.get();
    }

    /**
     * Built when first needed.
     *
     * @throws UnsupportedException where there is no compiler @throws NativeException when it does not make the runtime
     */
    static Toolchain get() {
        return BUILT.get();
    }

    EmulatorLibrary library() {
        return library;
    }

    /** The runtime object, to link kernels against. */
    Path object() {
        return object;
    }

    /** Of compiler, processor and runtime: what kernels compiled by it depend on. */
    static String runtimeKey(CxxCompiler compiler) {
        Hash hash = new Hash();
        RUNTIME_OPTIONS.forEach(hash::add);
        hash.add(compiler.version());
        processor().options().forEach(hash::add);
        Resources.runtime().forEach((name, text) -> hash.add(name).add(text));
        return hash.hex();
    }

    private ModuleImage build() {
        Map<String, String> files = Resources.runtime();
        try (Workshop.Bench bench = Workshop.bench(files)) {
            Path folder = bench.path();
            List<String> arguments = new ArrayList<>(RUNTIME_OPTIONS);
            arguments.addAll(processor().options());
            arguments.add("-Wl,-soname," + soname);
            arguments.addAll(List.of("runtime/runtime.cpp", "-o", "runtime.so", "-ldl"));
            HostCommand result = compiler.run(folder, arguments);
            if (result.status() != 0) {
                throw new NativeException("emulator: " + compiler.name() + " cannot build the runtime:\n"
                        + result.output().strip());
            }
            if (!Files.isRegularFile(folder.resolve("runtime.so"))) {
                throw new NativeException("emulator: " + String.join(" ", compiler.command()) + " (\""
                        + compiler.version() + "\") made no runtime: it is no C++ compiler; set TENON_CXX");
            }
            return new ModuleImage(
                    "emulator runtime",
                    ModuleImage.Format.OBJECT,
                    read(folder.resolve("runtime.so")),
                    null,
                    result.output());
        }
    }

    static MemorySegment read(Path file) {
        try {
            return MemorySegment.ofArray(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new NativeException("emulator: " + file + " cannot be read: " + e, e);
        }
    }

    /** A file of this process's own: nobody can change it while it is mapped. */
    static Path write(String name, MemorySegment bytes) {
        Path file = Workshop.fresh(name);
        try (var channel = Files.newByteChannel(
                file, java.nio.file.StandardOpenOption.CREATE_NEW, java.nio.file.StandardOpenOption.WRITE)) {
            var buffer = bytes.asByteBuffer();
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
            return file;
        } catch (IOException e) {
            throw new NativeException("emulator: " + file + " cannot be written: " + e, e);
        }
    }
}
