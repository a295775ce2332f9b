package dev.tenon.cuda.collective;

import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.TenonException;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.nativelib.nccl.Nccl;
import dev.tenon.nativelib.nccl.NcclConfig;
import dev.tenon.nativelib.nccl.NcclConstants;
import dev.tenon.nativelib.nccl.NcclLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Makes NCCL's communicators. NCCL waits for all ranks without a limit, so it does that on a thread of its own, which
 * is left behind when the time is over: communicators that block serve every later call fastest (those that do not
 * start a thread for each), and only this first wait cannot be ended.
 */
final class Joining {
    private Joining() {}

    /** One for each device. @throws CollectiveTimeoutException when NCCL has not finished by the deadline */
    static long[] all(List<GpuContext> contexts, long deadline) {
        return inTime("joining " + contexts.size() + " devices", contexts, deadline, () -> {
            try (Arena arena = Arena.ofConfined()) {
                int world = contexts.size();
                MemorySegment comms = arena.allocate(ValueLayout.JAVA_LONG, world);
                int[] ordinals = contexts.stream()
                        .mapToInt(context -> context.device().ordinal())
                        .toArray();
                contexts.getFirst().makeCurrent();
                NcclLibrary.CHECK.check(
                        Nccl.ncclCommInitAll(
                                comms.address(),
                                world,
                                arena.allocateFrom(ValueLayout.JAVA_INT, ordinals)
                                        .address()),
                        "ncclCommInitAll(%d devices)",
                        world);
                return comms.toArray(ValueLayout.JAVA_LONG);
            }
        });
    }

    /** This process's. @throws CollectiveTimeoutException when NCCL has not finished by the deadline */
    static long one(GpuContext context, int rank, int world, byte[] id, long deadline) {
        long[] made = inTime("rank " + rank + " joining a world of " + world, List.of(context), deadline, () -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment comm = arena.allocate(ValueLayout.JAVA_LONG);
                MemorySegment shared = arena.allocate(NcclConstants.UNIQUE_ID);
                MemorySegment.copy(id, 0, shared, ValueLayout.JAVA_BYTE, 0, id.length);
                context.makeCurrent();
                NcclLibrary.CHECK.check(
                        Nccl.ncclCommInitRankConfig(
                                comm.address(),
                                world,
                                shared,
                                rank,
                                NcclConfig.allocate(arena, true).address()),
                        "ncclCommInitRankConfig(rank=%d of %d, %s)",
                        rank,
                        world,
                        context.device().name());
                return new long[] {comm.get(ValueLayout.JAVA_LONG, 0)};
            }
        });
        return made[0];
    }

    /** Whatever comes too late is aborted by the thread that made it; until then the devices are kept for it. */
    private static long[] inTime(String what, List<GpuContext> contexts, long deadline, Supplier<long[]> work) {
        Held held = Held.add(what, "being made");
        CompletableFuture<long[]> result = new CompletableFuture<>();
        Thread _ = Leaving.start(() -> {
            try {
                long[] comms = work.get();
                if (!result.complete(comms)) {
                    abort(comms);
                }
                held.gone();
            } catch (Throwable e) {
                held.gone(); // NCCL has taken down what it had made
                result.completeExceptionally(e);
            }
        });
        try {
            return result.get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return late(
                    result,
                    contexts,
                    new CollectiveTimeoutException(
                            what + ": NCCL has not finished in time; a rank is missing, or cannot be reached", e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return late(result, contexts, new NativeException(what + ": interrupted", e));
        } catch (ExecutionException e) {
            throw e.getCause() instanceof TenonException known
                    ? known
                    : new NativeException(what + ": " + e.getCause(), e);
        }
    }

    /** Nobody takes the result any more, unless it has come at this very moment. */
    private static long[] late(CompletableFuture<long[]> result, List<GpuContext> contexts, TenonException why) {
        if (!result.completeExceptionally(why) && !result.isCompletedExceptionally()) {
            return result.join();
        }
        contexts.forEach(GpuContext::keep);
        throw why;
    }

    private static void abort(long[] comms) {
        Held.abortBegins();
        for (long comm : comms) {
            NcclLibrary.CHECK.check(Nccl.ncclCommAbort(comm), "ncclCommAbort(one that came too late)");
        }
    }
}
