package dev.tenon.cuda.compile;

import dev.tenon.cuda.kernel.file.KernelSources;
import dev.tenon.cuda.port.Hash;
import dev.tenon.cuda.port.KernelSource;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The header of ours that touches the hardware, with its parts; this platform's compilers add it to every source. */
final class DeviceHeader {
    private static final String NAME = "tenon.cuh";

    private DeviceHeader() {}

    /** It and its parts, by name. */
    private static Map<String, String> parts() {
        return KernelSources.includedBy(List.of("#include \"" + NAME + '"'));
    }

    static Hash addTo(Hash hash) {
        KernelSources.addTo(hash, parts());
        return hash;
    }

    /** All headers of a source, by name. */
    static Map<String, String> headers(KernelSource source) {
        Map<String, String> headers = new TreeMap<>(source.headers());
        headers.putAll(parts());
        return headers;
    }
}
