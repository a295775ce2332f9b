package dev.tenon.cuda.collective;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.kernel.KernelCatalog;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.KernelCompiler;
import java.util.ArrayList;
import java.util.List;

/**
 * Devices of one process that all-reduce short vectors over each other's memory, in one crossing. Thread-safe; each
 * rank is used by one thread at a time.
 */
public final class OneShotGroup implements AutoCloseable {
    private static final int MOST_RANKS = 8;

    /** How ranks hand each other their elements. */
    public enum Form {
        /** Elements are their own flags. */
        FAST("oneshot"),
        /** Elements, then a flag, then a read across: plainer and slower. */
        FLAGS("oneshot_flags");

        private final String entry;

        Form(String entry) {
            this.entry = entry;
        }

        KernelFile file() {
            return switch (this) {
                case FAST -> KernelCatalog.ONESHOT;
                case FLAGS -> KernelCatalog.ONESHOT_FLAGS;
            };
        }

        String entry() {
            return entry;
        }
    }

    private final List<OneShotRank> ranks;

    private OneShotGroup(List<OneShotRank> ranks) {
        this.ranks = ranks;
    }

    /** Why these devices cannot; empty where they can. */
    public static String unavailable(List<GpuContext> contexts) {
        if (contexts.size() < 2 || contexts.size() > MOST_RANKS) {
            return contexts.size() + " rank(s); it is for 2 to " + MOST_RANKS;
        }
        for (GpuContext context : contexts) {
            for (GpuContext peer : contexts) {
                if (!context.equals(peer) && !context.canAccess(peer)) {
                    return context.device().name() + " " + context.device().ordinal() + " cannot access the memory of "
                            + peer.device().name() + " " + peer.device().ordinal();
                }
            }
        }
        return "";
    }

    /**
     * Rank {@code i} is on the {@code i}th device.
     *
     * @throws UnsupportedException when {@link #unavailable} says why not @throws dev.tenon.core.error.NativeException
     *     when the kernels do not compile
     */
    public static OneShotGroup open(List<GpuContext> contexts, KernelCompiler compiler, Form form) {
        String unavailable = unavailable(contexts);
        if (!unavailable.isEmpty()) {
            throw new UnsupportedException("all-reduce over peer memory: " + unavailable);
        }
        for (GpuContext context : contexts) {
            contexts.stream().filter(peer -> !peer.equals(context)).forEach(context::enableAccess);
        }
        List<OneShotRank> ranks = new ArrayList<>();
        OneShotGroup group = new OneShotGroup(ranks);
        try {
            for (GpuContext context : contexts) {
                ranks.add(new OneShotRank(ranks.size(), contexts.size(), context, compiler, form));
            }
            ranks.forEach(rank -> rank.meet(ranks));
        } catch (RuntimeException | Error e) {
            group.close();
            throw e;
        }
        return group;
    }

    public OneShotRank rank(int rank) {
        return ranks.get(rank);
    }

    /** Frees the workspaces; no rank's kernels may run any more. Idempotent. */
    @Override
    public void close() {
        ranks.forEach(OneShotRank::close);
    }
}
