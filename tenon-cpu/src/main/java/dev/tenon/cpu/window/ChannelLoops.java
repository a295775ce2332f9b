package dev.tenon.cpu.window;

import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Vectors;
import dev.tenon.cpu.machine.Matrix;
import dev.tenon.cpu.machine.Place;
import java.lang.foreign.MemorySegment;

/**
 * Inner loops over windows of f32 whose channels lie side by side, in plain Java. Offsets are in bytes, counts in
 * elements; results are rows of {@code channels}, one behind the other, and overlap no operand.
 */
public class ChannelLoops {
    private static final class Choice {
        static final ChannelLoops CURRENT = Vectors.available() ? new VectorChannelLoops() : new ChannelLoops();
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
        MemorySegment to = y.memory();
        for (int p = 0; p < positions; p++) {
            for (int c = 0; c < channels; c++) {
                float sum = bias.isNone() ? 0 : bias.memory().get(Raw.F32, bias.offset() + 4L * c);
                for (int line = 0; line < x.lines(); line++) {
                    long at = x.at() + p * x.step() + line * x.lineStep() + 4L * c;
                    long filter = w.offset() + line * w.stride() + 4L * c;
                    for (int cell = 0; cell < x.cells(); cell++) {
                        sum += w.memory().get(Raw.F32, filter + 4L * channels * cell)
                                * x.memory().get(Raw.F32, at + cell * x.cellStep());
                    }
                }
                to.set(Raw.F32, y.offset() + 4L * ((long) p * channels + c), sum);
            }
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
