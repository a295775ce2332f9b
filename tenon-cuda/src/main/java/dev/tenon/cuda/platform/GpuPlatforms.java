package dev.tenon.cuda.platform;

import dev.tenon.core.error.InputException;
import dev.tenon.cuda.port.GpuPlatform;
import java.util.List;
import java.util.ServiceLoader;

/** Every platform on the path. */
public final class GpuPlatforms {
    private GpuPlatforms() {}

    private static final class Found {
        static final List<GpuPlatform> ALL =
                ServiceLoader.load(GpuPlatform.class, GpuPlatforms.class.getClassLoader()).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList();
    }

    public static List<GpuPlatform> all() {
        return Found.ALL;
    }

    /** @throws InputException naming those there are */
    public static GpuPlatform named(String name) {
        return Found.ALL.stream()
                .filter(platform -> platform.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new InputException("there is no GPU platform \"" + name + "\"; expected one of "
                        + Found.ALL.stream().map(GpuPlatform::name).toList()));
    }
}
