package dev.tenon.core.ir.op.custom;

import dev.tenon.core.error.InputException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Source text of kernels.
 *
 * @param name a file name for messages: {@code scaled_add.cu}
 * @param text the source
 * @param defines macros, in order, {@code NAME} or {@code NAME=VALUE}; each set is compiled once
 */
public record DeviceSource(String name, String text, List<String> defines) {
    /** CUDA C++, as the CUDA backend compiles it. */
    public static final String CUDA = "cuda";

    public DeviceSource {
        defines = List.copyOf(defines);
    }

    /** Makes a source of a text, without macros. */
    public static DeviceSource of(String name, String text) {
        return new DeviceSource(name, text, List.of());
    }

    /**
     * Reads a resource of a class's module, in UTF-8.
     *
     * @param path as {@link Class#getResourceAsStream} takes it
     * @throws InputException when there is no such resource
     */
    public static DeviceSource resource(Class<?> owner, String path) {
        try (InputStream in = owner.getResourceAsStream(path)) {
            if (in == null) {
                throw InputException.of(
                        "path",
                        "the class " + owner.getName() + " has no resource " + path + "; expected kernel source");
            }
            return of(path.substring(path.lastIndexOf('/') + 1), new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException("resource " + path + " of " + owner.getName(), e);
        }
    }

    /** Returns this source with one more macro. */
    public DeviceSource define(String macro) {
        List<String> more = new ArrayList<>(defines);
        more.add(macro);
        return new DeviceSource(name, text, more);
    }
}
