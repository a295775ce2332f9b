package dev.tenon.cuda.compile;

import dev.tenon.cuda.kernel.file.KernelSources;
import dev.tenon.cuda.port.KernelSource;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** The one header of ours that touches the hardware; this platform's compilers add it to every source. */
final class DeviceHeader {
    static final String NAME = "tenon.cuh";

    private DeviceHeader() {}

    static String text() {
        return Objects.requireNonNull(KernelSources.headers().get(NAME));
    }

    /** All headers of a source, by name. */
    static Map<String, String> headers(KernelSource source) {
        Map<String, String> headers = new TreeMap<>(source.headers());
        headers.put(NAME, text());
        return headers;
    }
}
