package dev.tenon.cuda.platform;

import dev.tenon.core.error.InputException;
import dev.tenon.core.lazy.Lazy;
import dev.tenon.core.lazy.Services;
import dev.tenon.cuda.port.GpuPlatform;
import java.util.List;
import java.util.ServiceLoader;

/** Every platform on the path. */
public final class GpuPlatforms {
    private static final Lazy<List<GpuPlatform>> ALL = new Lazy<>() {
        @Override
        protected List<GpuPlatform> make() {
            return List.copyOf(
                    Services.all(ServiceLoader.load(GpuPlatform.class, GpuPlatforms.class.getClassLoader())));
        }
    };

    private GpuPlatforms() {}

    public static List<GpuPlatform> all() {
        return ALL.get();
    }

    /** @throws InputException naming those there are */
    public static GpuPlatform named(String name) {
        return ALL.get().stream()
                .filter(platform -> platform.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new InputException("there is no GPU platform \"" + name + "\"; expected one of "
                        + ALL.get().stream().map(GpuPlatform::name).toList()));
    }
}
