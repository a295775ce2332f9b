package dev.tenon.cuda.compile;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.kernel.file.KernelSources;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.Hash;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Kernels that were built ahead, from the optional artifact {@code tenon-cuda-ptx}: machine code, which starts at once,
 * or PTX, which the driver compiles, for machines with a driver and no compiler. It has what its kernels' sources were
 * when it was built; generated sources it cannot have. Thread-safe.
 */
public final class Prebuilt implements KernelCompiler {
    /** Where the artifact's index lies: a note, then lines of {@code key compute_NN} or {@code key sm_NN}, one a file
     * {@code key.compute_NN.ptx} or {@code key.sm_NN.cubin} beside it. */
    static final String INDEX = "index";

    /** Begins the line that says what built the files, or why there are none. */
    static final String NOTE = "# ";

    private final ModuleImage.Format format;
    private final String what;
    private final Optional<PtxBundle> bundle;
    private final Map<String, List<Architecture>> index = new TreeMap<>();
    private final String note;
    private final String fault;

    /** PTX from the artifact on the module path or class path. */
    public static Prebuilt ptx() {
        return new Prebuilt(found(), ModuleImage.Format.PTX);
    }

    /** Machine code from the artifact on the module path or class path. */
    public static Prebuilt machineCode() {
        return new Prebuilt(found(), ModuleImage.Format.CUBIN);
    }

    private static Optional<PtxBundle> found() {
        return ServiceLoader.load(PtxBundle.class, Prebuilt.class.getClassLoader())
                .findFirst();
    }

    Prebuilt(Optional<PtxBundle> bundle, ModuleImage.Format format) {
        this.format = format;
        this.what = format == ModuleImage.Format.PTX ? "prebuilt PTX" : "prebuilt machine code";
        this.bundle = bundle;
        String said = "";
        String broken = "";
        try {
            byte[] text = bundle.isPresent() ? bytes(bundle.get(), INDEX) : new byte[0];
            for (String line : new String(text, StandardCharsets.UTF_8).lines().toList()) {
                if (line.startsWith(NOTE)) {
                    said = line.substring(NOTE.length());
                } else {
                    String[] parts = line.split(" ");
                    boolean machineCode = parts[parts.length - 1].startsWith("sm_");
                    if (machineCode == (format == ModuleImage.Format.CUBIN)) {
                        index.computeIfAbsent(parts[0], _ -> new ArrayList<>())
                                .add(Architecture.parse(parts[parts.length - 1]));
                    }
                }
            }
        } catch (IOException | RuntimeException e) {
            broken = what + ": its index cannot be read: " + e.getMessage();
        }
        note = said;
        fault = broken.isEmpty() && index.isEmpty()
                ? what + ": the artifact dev.tenon:tenon-cuda-ptx holds none: " + said
                : broken;
    }

    @Override
    public String name() {
        return unavailable().isEmpty() ? what + " (" + note + ")" : "";
    }

    @Override
    public String unavailable() {
        return bundle.isPresent()
                ? fault
                : what + ": the artifact dev.tenon:tenon-cuda-ptx is not there; add it as a dependency";
    }

    @Override
    public String fingerprint() {
        return name();
    }

    @Override
    public List<Architecture> architectures() {
        if (!unavailable().isEmpty()) {
            throw new UnsupportedException(unavailable());
        }
        TreeSet<Architecture> all = new TreeSet<>();
        index.values().forEach(all::addAll);
        return List.copyOf(all);
    }

    /** Where it holds machine code of that capability alone, which is of all kernels; PTX of one alone is not. */
    @Override
    public boolean makesSpecific(Architecture device) {
        return format == ModuleImage.Format.CUBIN
                && index.values().stream()
                        .flatMap(List::stream)
                        .anyMatch(one -> one.specific() && one.number() == device.number());
    }

    @Override
    public boolean holds(KernelSource source, Architecture architecture) {
        return best(index.getOrDefault(key(source), List.of()), architecture).isPresent();
    }

    /** The one whose code runs best on a device. */
    private Optional<Architecture> best(List<Architecture> built, Architecture architecture) {
        return built.stream()
                // code of a capability alone runs on no other, and holds kernels of all kinds
                .filter(one -> one.specific()
                        ? one.number() == architecture.number()
                        : KernelSources.serves(one, architecture))
                // machine code runs on later capabilities of its major number alone
                .filter(one -> format == ModuleImage.Format.PTX || one.major() == architecture.major())
                .filter(one -> !architecture.specific() || one.specific())
                .max(Architecture::compareTo);
    }

    @Override
    public ModuleImage compile(KernelSource source, Architecture architecture) {
        String key = key(source);
        List<Architecture> built = index.getOrDefault(key, List.of());
        Architecture best = best(built, architecture)
                .orElseThrow(() -> new UnsupportedException(what + ": " + source.name()
                        + (built.isEmpty()
                                ? " is not in it, or has changed since it was built"
                                : " is there for " + built + ", which is no code for " + architecture)));
        String file = file(key, best, format);
        try {
            byte[] text = bytes(bundle.orElseThrow(), file);
            // the driver wants a closing zero behind PTX
            MemorySegment room = CacheEntry.room(text.length + (format == ModuleImage.Format.PTX ? 1L : 0L));
            MemorySegment.copy(text, 0, room, ValueLayout.JAVA_BYTE, 0, text.length);
            return new ModuleImage(source.name(), format, room, null, "");
        } catch (IOException e) {
            throw new NativeException(what + ": " + file + " cannot be read: " + e.getMessage(), e);
        }
    }

    static String file(String key, Architecture architecture, ModuleImage.Format format) {
        return format == ModuleImage.Format.PTX
                ? key + "." + architecture.compute() + ".ptx"
                : key + "." + architecture.sm() + ".cubin";
    }

    /** What decides about code beside the architecture. */
    static String key(KernelSource source) {
        Hash hash = new Hash().add(source.name()).add(source.text());
        KernelSources.addTo(hash, DeviceHeader.headers(source));
        source.defines().forEach(hash::add);
        return hash.hex().substring(0, 32);
    }

    private static byte[] bytes(PtxBundle bundle, String name) throws IOException {
        try (InputStream in = bundle.open(name)) {
            return in.readAllBytes();
        }
    }
}
