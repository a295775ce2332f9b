package dev.tenon.cuda.compile;

import dev.tenon.cuda.port.KernelSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/** The one header of ours that touches the hardware; this platform's compilers add it to every source. */
final class DeviceHeader {
    static final String NAME = "tenon.cuh";

    private static final class Loaded {
        static final String TEXT = read();
    }

    private DeviceHeader() {}

    static String text() {
        return Loaded.TEXT;
    }

    /** All headers of a source, by name. */
    static Map<String, String> headers(KernelSource source) {
        Map<String, String> headers = new TreeMap<>(source.headers());
        headers.put(NAME, text());
        return headers;
    }

    private static String read() {
        try (InputStream in = DeviceHeader.class.getResourceAsStream("/dev/tenon/cuda/kernels/include/" + NAME)) {
            if (in == null) {
                throw new IllegalStateException(NAME + " is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
