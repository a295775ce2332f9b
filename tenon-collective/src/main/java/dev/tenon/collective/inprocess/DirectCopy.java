package dev.tenon.collective.inprocess;

import dev.tenon.collective.Chunks;
import dev.tenon.collective.HostBuffer;
import org.jspecify.annotations.Nullable;

/** Copies to all ranks' targets: one task for each rank that copies out, or for each that copies in. */
final class DirectCopy implements Tasks {
    private final HostBuffer[] sources;
    private final HostBuffer[] targets;
    private final @Nullable Chunks chunks;

    private DirectCopy(HostBuffer[] sources, HostBuffer[] targets, @Nullable Chunks chunks) {
        this.sources = sources;
        this.targets = targets;
        this.chunks = chunks;
    }

    /** Each rank's source to its chunk of every target. */
    static Tasks gather(Round round, Chunks chunks) {
        HostBuffer[] sources = new HostBuffer[chunks.world()];
        HostBuffer[] targets = new HostBuffer[chunks.world()];
        for (int rank = 0; rank < sources.length; rank++) {
            sources[rank] = round.call(rank).source();
            targets[rank] = round.call(rank).target();
        }
        return new DirectCopy(sources, targets, chunks);
    }

    /** The root's source to every target. */
    static Tasks broadcast(Round round, int world, int root) {
        HostBuffer[] sources = new HostBuffer[world];
        HostBuffer[] targets = new HostBuffer[world];
        for (int rank = 0; rank < world; rank++) {
            sources[rank] = round.call(root).source();
            targets[rank] = round.call(rank).target();
        }
        return new DirectCopy(sources, targets, null);
    }

    @Override
    public int count() {
        return sources.length;
    }

    @Override
    public void run(int task) {
        if (chunks == null) {
            copy(sources[task], targets[task]);
            return;
        }
        for (HostBuffer target : targets) {
            copy(sources[task], target.slice(chunks.start(task), chunks.size(task)));
        }
    }

    private static void copy(HostBuffer source, HostBuffer target) {
        if (!source.same(target)) {
            source.copyTo(target);
        }
    }
}
