package dev.tenon.cli.ranks;

import dev.tenon.cli.console.Values;
import dev.tenon.collective.Algorithm;
import dev.tenon.collective.Chunks;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.collective.inprocess.InProcessGroup;
import dev.tenon.collective.inprocess.InProcessOptions;
import dev.tenon.collective.inprocess.RingListener;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A ring all-reduce of small vectors as it really went, step by step.
 *
 * @param chunks how the vectors are divided
 * @param start each rank's vector before the first step
 * @param steps scatter-reduce, then all-gather
 */
@SuppressWarnings("ArrayRecordComponent") // vectors, made once and only read
record RingTrace(Chunks chunks, float[][] start, List<Step> steps) {
    private static final int LARGEST_WORLD = 16;
    private static final int LARGEST_LENGTH = 64;

    /** What one rank sent to its right neighbour. */
    @SuppressWarnings("ArrayRecordComponent")
    record Transfer(int from, int to, int chunk, float[] values) {}

    /**
     * One step of all ranks.
     *
     * @param number within the phase, from 1 on
     * @param after each rank's vector after the step
     */
    @SuppressWarnings("ArrayRecordComponent")
    record Step(String phase, int number, List<Transfer> transfers, float[][] after) {}

    /** Runs it: rank 0 holds 10, 20, 30, …, the others 1, 2, 3, … on from one to the next. */
    static RingTrace of(int world, int length) {
        float[][] start = new float[world][length];
        for (int rank = 0; rank < world; rank++) {
            for (int i = 0; i < length; i++) {
                start[rank][i] = rank == 0 ? 10 * (i + 1) : (rank - 1) * length + i + 1;
            }
        }
        Recorder recorder = new Recorder(world);
        InProcessOptions options =
                InProcessOptions.defaults().withAlgorithm(Algorithm.RING).withListener(recorder);
        try (InProcessGroup group = InProcessGroup.open(world, options)) {
            group.run(rank -> rank.allReduce(start[rank.rank()].clone(), ReduceOp.SUM));
        }
        return new RingTrace(new Chunks(length, world), start, recorder.steps(start, new Chunks(length, world)));
    }

    /** What every rank ends with. */
    float[] result() {
        return steps.isEmpty() ? start[0] : steps.getLast().after()[0];
    }

    /** The elements of a chunk. */
    static float[] values(float[] vector, Chunks chunks, int chunk) {
        return Arrays.copyOfRange(vector, (int) chunks.start(chunk), (int) chunks.end(chunk));
    }

    /** Notes each rank's steps; ranks write to places of their own. */
    private static final class Recorder implements RingListener {
        private final int world;
        private final float[][][] after;
        private final int[][] sent;

        Recorder(int world) {
            this.world = world;
            after = new float[2 * (world - 1)][world][];
            sent = new int[2 * (world - 1)][world];
        }

        @Override
        public void reduced(int rank, int step, int sentChunk, int received, HostBuffer state) {
            note(rank, step, sentChunk, state);
        }

        @Override
        public void gathered(int rank, int step, int sentChunk, int received, HostBuffer state) {
            note(rank, world - 1 + step, sentChunk, state);
        }

        private void note(int rank, int step, int sentChunk, HostBuffer state) {
            sent[step][rank] = sentChunk;
            float[] copy = new float[(int) state.length()];
            state.copyTo(HostBuffer.of(copy));
            after[step][rank] = copy;
        }

        List<Step> steps(float[][] start, Chunks chunks) {
            List<Step> steps = new ArrayList<>();
            float[][] before = start;
            for (int step = 0; step < after.length; step++) {
                List<Transfer> transfers = new ArrayList<>();
                for (int rank = 0; rank < world; rank++) {
                    int chunk = sent[step][rank];
                    transfers.add(new Transfer(rank, (rank + 1) % world, chunk, values(before[rank], chunks, chunk)));
                }
                boolean reducing = step < world - 1;
                steps.add(new Step(
                        reducing ? "scatter-reduce" : "all-gather",
                        reducing ? step + 1 : step - world + 2,
                        transfers,
                        after[step]));
                before = after[step];
            }
            return steps;
        }
    }

    /** Ranks of a drawing. */
    static final class FewRanks extends Values.Whole {
        FewRanks() {
            super(1, LARGEST_WORLD);
        }
    }

    /** Elements of a drawing's vectors. */
    static final class FewElements extends Values.Whole {
        FewElements() {
            super(0, LARGEST_LENGTH);
        }
    }
}
