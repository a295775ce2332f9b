package dev.tenon.emulator;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The C++ files in this module. */
final class Resources {
    private static final List<String> HEADERS = List.of(
            "include/tenon.cuh",
            "include/emulated/abi.h",
            "include/emulated/atomics.h",
            "include/emulated/bits.h",
            "include/emulated/block.h",
            "include/emulated/builtins.h",
            "include/emulated/entry.h",
            "include/emulated/half.h",
            "include/emulated/keywords.h",
            "include/emulated/math.h",
            "include/emulated/tensor.h",
            "include/emulated/vectors.h",
            "include/emulated/warp.h");
    private static final List<String> RUNTIME = List.of(
            "runtime/block.h",
            "runtime/check.h",
            "runtime/clock.h",
            "runtime/fault.h",
            "runtime/fibre.h",
            "runtime/memory.h",
            "runtime/module.h",
            "runtime/order.h",
            "runtime/pool.h",
            "runtime/shared.h",
            "runtime/signals.h",
            "runtime/worker.h",
            "runtime/api.cpp",
            "runtime/block.cpp",
            "runtime/check.cpp",
            "runtime/fault.cpp",
            "runtime/fibre.cpp",
            "runtime/hooks.cpp",
            "runtime/memory.cpp",
            "runtime/module.cpp",
            "runtime/order.cpp",
            "runtime/pool.cpp",
            "runtime/runtime.cpp",
            "runtime/shared.cpp",
            "runtime/signals.cpp",
            "runtime/tensor.cpp",
            "runtime/undefined.cpp",
            "runtime/warp.cpp",
            "runtime/worker.cpp");

    private Resources() {}

    /** The device header and its parts by the name they are included by. */
    static Map<String, String> headers() {
        Map<String, String> texts = new TreeMap<>();
        for (String name : HEADERS) {
            texts.put(name.substring("include/".length()), text(name));
        }
        return texts;
    }

    /** All that the runtime object is built of, by path. */
    static Map<String, String> runtime() {
        Map<String, String> texts = new TreeMap<>();
        for (String name : HEADERS) {
            texts.put(name, text(name));
        }
        for (String name : RUNTIME) {
            texts.put(name, text(name));
        }
        return texts;
    }

    private static String text(String name) {
        try (InputStream in = Resources.class.getResourceAsStream("/dev/tenon/emulator/" + name)) {
            if (in == null) {
                throw new IllegalStateException(name + " is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
