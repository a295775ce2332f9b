package dev.tenon.cpu.window;

import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Vectors;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;

/**
 * Inner loops over windows of f32 whose channels lie side by side, in plain Java. Offsets are in bytes, counts in
 * elements; results are rows of {@code channels}, one behind the other, and overlap no operand.
 */
public class ChannelLoops {
    private static final class Choice {
        static final ChannelLoops CURRENT = Vectors.available() ? new VectorChannelLoops() : new ChannelLoops();
    }

    /** Channels at a time. */
    private static final int BLOCK = 256;

    private static final ThreadLocal<Arrays> ARRAYS = ThreadLocal.withInitial(Arrays::new);

    /** What a thread works on: C2 turns a loop over arrays into vectors at once, a loop over memory never. */
    private static final class Arrays {
        private final float[] x = new float[BLOCK];
        private final float[] sums = new float[BLOCK];
        private float[] weights = new float[0];

        /** Weights of some channels, one cell's behind another's. */
        void holdWeights(ChannelWindow x, Matrix w, int first, int n, int channels) {
            int cells = x.cells();
            if (weights.length < n * x.lines() * cells) {
                weights = new float[n * x.lines() * cells];
            }
            for (int line = 0; line < x.lines(); line++) {
                for (int cell = 0; cell < cells; cell++) {
                    long at = w.offset() + line * w.stride() + 4L * ((long) channels * cell + first);
                    MemorySegment.copy(w.memory(), Raw.F32, at, weights, (line * cells + cell) * n, n);
                }
            }
        }
    }

    /** The loops to use now. */
    public static ChannelLoops current() {
        return Choice.CURRENT;
    }

    /** What reports call these. */
    public String tier() {
        return "scalar";
    }

    /**
     * y[p, c] = bias[c] + the sum over lines and cells of w[line, cell, c] x[p, line, cell, c].
     *
     * @param w the weights of the first line's cells, one behind the other; a stride from a line to the next
     * @param bias {@link Place#NONE} for none
     */
    public void weigh(ChannelWindow x, Matrix w, Place bias, Place y, int positions, int channels) {
        Arrays of = ARRAYS.get();
        int cells = x.lines() * x.cells();
        for (int first = 0; first < channels; first += BLOCK) {
            int n = Math.min(BLOCK, channels - first);
            of.holdWeights(x, w, first, n, channels);
            for (int p = 0; p < positions; p++) {
                if (bias.isNone()) {
                    java.util.Arrays.fill(of.sums, 0, n, 0);
                } else {
                    MemorySegment.copy(bias.memory(), Raw.F32, bias.offset() + 4L * first, of.sums, 0, n);
                }
                for (int cell = 0; cell < cells; cell++) {
                    long line = x.at() + p * x.step() + cell / x.cells() * x.lineStep();
                    MemorySegment.copy(
                            x.memory(), Raw.F32, line + cell % x.cells() * x.cellStep() + 4L * first, of.x, 0, n);
                    multiplyAdd(of.weights, cell * n, of.x, of.sums, n);
                }
                MemorySegment.copy(of.sums, 0, y.memory(), Raw.F32, y.offset() + 4L * ((long) p * channels + first), n);
            }
        }
    }

    private static void multiplyAdd(float[] weights, int from, float[] x, float[] sums, int n) {
        for (int c = 0; c < n; c++) {
            sums[c] += weights[from + c] * x[c];
        }
    }

    /** y[p, c] = the maximum of the window's x[c]; NaN where there is one. A window has a cell at least. */
    public void maximum(ChannelWindow x, Place y, int positions, int channels) {
        MemorySegment to = y.memory();
        for (int p = 0; p < positions; p++) {
            for (int c = 0; c < channels; c++) {
                float most = Float.NEGATIVE_INFINITY;
                for (int line = 0; line < x.lines(); line++) {
                    long at = x.at() + p * x.step() + line * x.lineStep() + 4L * c;
                    for (int cell = 0; cell < x.cells(); cell++) {
                        most = Math.max(most, x.memory().get(Raw.F32, at + cell * x.cellStep()));
                    }
                }
                to.set(Raw.F32, y.offset() + 4L * ((long) p * channels + c), most);
            }
        }
    }

    /** y[p, c] = the sum of the window's x[c], divided by {@code divisor}. */
    public void average(ChannelWindow x, float divisor, Place y, int positions, int channels) {
        MemorySegment to = y.memory();
        for (int p = 0; p < positions; p++) {
            for (int c = 0; c < channels; c++) {
                float sum = 0;
                for (int line = 0; line < x.lines(); line++) {
                    long at = x.at() + p * x.step() + line * x.lineStep() + 4L * c;
                    for (int cell = 0; cell < x.cells(); cell++) {
                        sum += x.memory().get(Raw.F32, at + cell * x.cellStep());
                    }
                }
                to.set(Raw.F32, y.offset() + 4L * ((long) p * channels + c), sum / divisor);
            }
        }
    }
}
