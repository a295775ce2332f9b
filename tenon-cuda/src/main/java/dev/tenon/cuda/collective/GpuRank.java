package dev.tenon.cuda.collective;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.runtime.Engine;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.nativelib.nccl.NcclLibrary;
import java.util.List;

/**
 * A rank that is a process with a device of its own, started by {@code tenon launch}, {@code torchrun} or anything that
 * sets the same variables.
 */
public final class GpuRank {
    private GpuRank() {}

    /**
     * Joins the world that the environment describes. Rank 0 listens at the master's port until all have come, and
     * gives them what NCCL needs to connect.
     *
     * @param context the device, usually of number {@link RankEnvironment#localRank()}; the caller's, to be closed
     *     after the communicator
     * @throws UnsupportedException where there is no NCCL, saying what was tried
     * @throws dev.tenon.core.error.CollectiveTimeoutException naming the ranks that did not come in time
     * @throws dev.tenon.core.error.NativeException when the port cannot be used, or NCCL cannot connect
     */
    public static GpuCommunicator open(GpuContext context, RankEnvironment here, GpuCollectiveOptions options) {
        return open(context, here, options, () -> {});
    }

    /**
     * The same on the device of a runtime, whose tensors the rank takes.
     *
     * @param runtime usually for the device of number {@link RankEnvironment#localRank()}; the caller's, to be closed
     *     before or after
     */
    public static GpuCommunicator open(Engine runtime, RankEnvironment here, GpuCollectiveOptions options) {
        return RankDevices.open(List.of(runtime), (_, contexts) -> {
            GpuContext context = contexts.getFirst();
            return open(context, here, options, context::close);
        });
    }

    private static GpuCommunicator open(
            GpuContext context, RankEnvironment here, GpuCollectiveOptions options, Runnable last) {
        String unavailable = NcclLibrary.unavailable();
        if (!unavailable.isEmpty()) {
            throw new UnsupportedException(unavailable);
        }
        long deadline = options.deadline();
        byte[] id = Rendezvous.share(here, NcclLibrary::newUniqueId, deadline);
        long comm = Joining.one(context, here.rank(), here.world(), id, deadline);
        NcclHandle handle = new NcclHandle(comm, context, here.rank(), here.world(), new Fate(), options.timeout());
        try {
            return new GpuCommunicator(new RankState(handle, null), options, last);
        } catch (RuntimeException | Error e) {
            Leaving.leave(List.of(handle.closing()), List.of(context), () -> {}); // whoever asked has nothing to close
            throw e;
        }
    }
}
