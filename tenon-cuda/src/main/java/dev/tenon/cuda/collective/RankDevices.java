package dev.tenon.cuda.collective;

import dev.tenon.core.error.InputException;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Target;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/**
 * The devices of runtimes, opened once more for their ranks: the runtime may be closed before the rank, and the rank
 * before the runtime.
 */
final class RankDevices {
    private RankDevices() {}

    /**
     * Opens rank {@code i} on the device of the {@code i}th runtime.
     *
     * @param opening takes the contexts over, and closes them at its end; when it fails, they are closed here
     */
    static <T> T open(List<Engine> runtimes, BiFunction<GpuPlatform, List<GpuContext>, T> opening) {
        GpuPlatform platform = platform(runtimes);
        List<GpuContext> contexts = new ArrayList<>();
        try {
            for (Engine runtime : runtimes) {
                contexts.add(platform.driver().open(runtime.target().ordinal()));
            }
            return opening.apply(platform, List.copyOf(contexts));
        } catch (RuntimeException | Error e) {
            contexts.forEach(GpuContext::close);
            throw e;
        }
    }

    private static GpuPlatform platform(List<Engine> runtimes) {
        if (runtimes.isEmpty()) {
            throw new InputException("a group of no runtimes; each rank needs one, on a GPU of its own");
        }
        List<Target> targets = runtimes.stream().map(Engine::target).toList();
        List<String> known = GpuPlatforms.all().stream().map(GpuPlatform::name).toList();
        String first = targets.getFirst().backend();
        if (!known.contains(first)
                || targets.stream().anyMatch(target -> !target.backend().equals(first))) {
            throw new InputException("ranks on GPUs need runtimes of one kind of GPU (" + known + "), got " + targets
                    + "; ranks on the CPU are threads (InProcessGroup) or processes over MPI");
        }
        return GpuPlatforms.named(first);
    }
}
