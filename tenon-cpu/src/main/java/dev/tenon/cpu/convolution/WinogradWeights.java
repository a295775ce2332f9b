package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuLoweringContext;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The weights of a convolution 3x3 for {@link WinogradLoops}: for each of the 36 points of a tile a matrix [channels
 * in, channels out] in panels.
 */
final class WinogradWeights {
    static final int POINTS = 36;

    /** What a row of the filter gives for each of six points. */
    private static final double[][] G = {
        {1 / 4.0, 0, 0},
        {-1 / 6.0, -1 / 6.0, -1 / 6.0},
        {-1 / 6.0, 1 / 6.0, -1 / 6.0},
        {1 / 24.0, 1 / 12.0, 1 / 6.0},
        {1 / 24.0, -1 / 12.0, 1 / 6.0},
        {0, 0, 1},
    };

    private WinogradWeights() {}

    static long bytes(int channelsIn, int channelsOut) {
        return POINTS * Gemm.packedBytes(channelsIn, channelsOut);
    }

    /** Made once for the model, of weights [channels out, 3, 3, channels in]. */
    static MemorySegment of(ConstantData weights, int channelsIn, int channelsOut, CpuLoweringContext context) {
        return context.prepared(
                weights,
                "Winograd's panels of " + Gemm.NR,
                data -> new CpuLoweringContext.Prepared(
                        bytes(channelsIn, channelsOut), to -> fill(data.elements(), channelsIn, channelsOut, to)));
    }

    /** The memory is zero. By way of arrays, whose loops are fast before the JVM has compiled those over segments. */
    private static void fill(MemorySegment from, int channelsIn, int channelsOut, MemorySegment to) {
        long matrix = Gemm.packedBytes(channelsIn, channelsOut);
        int panel = channelsIn * Gemm.NR;
        float[] window = new float[9 * channelsIn];
        float[] points = new float[POINTS * panel];
        for (int first = 0; first < channelsOut; first += Gemm.NR) {
            int count = Math.min(Gemm.NR, channelsOut - first);
            if (count < Gemm.NR) {
                Arrays.fill(points, 0);
            }
            for (int column = 0; column < count; column++) {
                MemorySegment.copy(from, Raw.F32, 4L * (first + column) * window.length, window, 0, window.length);
                fill(window, channelsIn, points, column);
            }
            for (int point = 0; point < POINTS; point++) {
                MemorySegment.copy(points, point * panel, to, Raw.F32, point * matrix + 4L * first * channelsIn, panel);
            }
        }
    }

    /** The column of a panel of each point that an output channel's window gives. */
    private static void fill(float[] window, int channelsIn, float[] points, int column) {
        double[] filter = new double[9];
        double[] half = new double[18];
        for (int in = 0; in < channelsIn; in++) {
            for (int cell = 0; cell < 9; cell++) {
                filter[cell] = window[cell * channelsIn + in];
            }
            transform(filter, half);
            int at = in * Gemm.NR + column;
            for (int point = 0; point < POINTS; point++) {
                double[] g = G[point % 6];
                int row = 3 * (point / 6);
                points[at] = (float) (g[0] * half[row] + g[1] * half[row + 1] + g[2] * half[row + 2]);
                at += channelsIn * Gemm.NR;
            }
        }
    }

    /** Six rows of three from three. */
    private static void transform(double[] filter, double[] half) {
        for (int row = 0; row < 6; row++) {
            double[] g = G[row];
            for (int i = 0; i < 3; i++) {
                half[3 * row + i] = g[0] * filter[i] + g[1] * filter[3 + i] + g[2] * filter[6 + i];
            }
        }
    }
}
