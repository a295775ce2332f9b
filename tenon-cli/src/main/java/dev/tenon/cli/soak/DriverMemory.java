package dev.tenon.cli.soak;

import dev.tenon.core.runtime.Target;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.GpuContext;
import org.jspecify.annotations.Nullable;

/** What a card's driver says is in use, by all processes; nothing for the CPU. */
final class DriverMemory implements AutoCloseable {
    private final @Nullable GpuContext context;

    private DriverMemory(@Nullable GpuContext context) {
        this.context = context;
    }

    static DriverMemory of(Target target) {
        return new DriverMemory(
                target.backend().equals("cpu")
                        ? null
                        : GpuPlatforms.named(target.backend()).driver().open(target.ordinal()));
    }

    /** Bytes in use; -1 where there is no card. */
    long used() {
        if (context == null) {
            return -1;
        }
        GpuContext.MemoryInfo info = context.memoryInfo();
        return info.total() - info.free();
    }

    @Override
    public void close() {
        if (context != null) {
            context.close();
        }
    }
}
