package dev.tenon.cli.bench;

import dev.tenon.cli.console.Samples;
import dev.tenon.collective.Algorithm;
import dev.tenon.collective.ReduceOp;
import dev.tenon.collective.inprocess.InProcessGroup;
import dev.tenon.collective.inprocess.InProcessOptions;
import java.util.Arrays;

/**
 * Times all-reduces (f32, sum, in place) within this process: from the moment that the ranks, awake on their threads,
 * are let go to the moment that the last of them has its result. The vectors are filled anew before each.
 */
final class AllReduceTiming implements Samples.Timing, AutoCloseable {
    private final InProcessGroup group;
    private final float[][] data;
    private final long[] nanos;

    AllReduceTiming(int world, int length, Algorithm algorithm) {
        group = InProcessGroup.open(world, InProcessOptions.defaults().withAlgorithm(algorithm));
        data = new float[world][length];
        nanos = new long[world];
        check();
    }

    /** Small integers, whose sums are exact in any order. */
    private static float element(int rank, int i) {
        return (rank + 1) * 7 + i % 1009;
    }

    private void fill(int rank) {
        float[] mine = data[rank];
        for (int i = 0; i < mine.length; i++) {
            mine[i] = element(rank, i);
        }
    }

    /** The results are right before they are timed. */
    private void check() {
        micros(1);
        int world = data.length;
        for (float[] result : data) {
            for (int i = 0; i < result.length; i++) {
                float expected = 7 * world * (world + 1) / 2f + world * (i % 1009);
                if (result[i] != expected) {
                    throw new IllegalStateException(
                            "the all-reduce is wrong: element " + i + " is " + result[i] + ", expected " + expected);
                }
            }
        }
    }

    @Override
    public double[] micros(int runs) {
        double[] micros = new double[runs];
        StartLine gate = new StartLine(data.length);
        group.run(communicator -> {
            int rank = communicator.rank();
            for (int run = 0; run < runs; run++) {
                fill(rank);
                gate.pass();
                communicator.allReduce(data[rank], ReduceOp.SUM);
                nanos[rank] = System.nanoTime() - gate.openedAt();
                gate.pass();
                if (rank == 0) {
                    micros[run] = Arrays.stream(nanos).max().orElseThrow() / 1e3;
                }
            }
        });
        return micros;
    }

    @Override
    public void close() {
        group.close();
    }
}
