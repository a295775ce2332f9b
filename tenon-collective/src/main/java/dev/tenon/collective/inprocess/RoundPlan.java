package dev.tenon.collective.inprocess;

import dev.tenon.collective.Algorithm;
import dev.tenon.collective.Chunks;
import dev.tenon.collective.reduce.Arithmetic;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How the ranks do a round that they agree on.
 *
 * @param algorithm the way: {@code DIRECT} is the tasks, the others each rank walks by itself
 * @param kernel the arithmetic; null for operations without any
 * @param arrays whether every rank's buffers are arrays that the kernel can work in
 */
record RoundPlan(Algorithm algorithm, Tasks tasks, @Nullable Arithmetic<?> kernel, boolean arrays) {
    private static final Tasks NONE = new Tasks() {
        @Override
        public int count() {
            return 0;
        }

        @Override
        public void run(int task) {}
    };

    static RoundPlan of(Round round, int world, InProcessOptions options) {
        Call call = round.call(0);
        Chunks chunks = new Chunks(call.length(), world);
        return switch (call.operation()) {
            case BARRIER -> direct(NONE);
            case BROADCAST -> direct(DirectCopy.broadcast(round, world, call.root()));
            case ALL_GATHER -> direct(DirectCopy.gather(round, chunks));
            case REDUCE_SCATTER -> direct(reduce(kernel(call), round, chunks, true));
            case ALL_REDUCE -> allReduce(round, chunks, kernel(call), choose(options, call.length(), world));
        };
    }

    private static Arithmetic<?> kernel(Call call) {
        return Arithmetic.of(call.dtype(), Objects.requireNonNull(call.op()));
    }

    private static RoundPlan direct(Tasks tasks) {
        return new RoundPlan(Algorithm.DIRECT, tasks, null, false);
    }

    private static RoundPlan allReduce(Round round, Chunks chunks, Arithmetic<?> kernel, Algorithm algorithm) {
        return algorithm == Algorithm.DIRECT
                ? direct(reduce(kernel, round, chunks, false))
                : new RoundPlan(algorithm, NONE, kernel, allArrays(round, chunks.world(), kernel));
    }

    private static <A> Tasks reduce(Arithmetic<A> kernel, Round round, Chunks chunks, boolean scatter) {
        return new DirectReduce<>(kernel, round, chunks, scatter);
    }

    private static boolean allArrays(Round round, int world, Arithmetic<?> kernel) {
        for (int rank = 0; rank < world; rank++) {
            Call call = round.call(rank);
            if (kernel.array(call.source()) == null || kernel.array(call.target()) == null) {
                return false;
            }
        }
        return true;
    }

    private static Algorithm choose(InProcessOptions options, long length, int world) {
        // a world of one has nobody to send to, and doubling keeps whole vectors in Java arrays
        return options.algorithm() == Algorithm.AUTO
                        || world == 1
                        || (options.algorithm() == Algorithm.DOUBLING && length > Integer.MAX_VALUE - 16)
                ? Algorithm.DIRECT
                : options.algorithm();
    }
}
