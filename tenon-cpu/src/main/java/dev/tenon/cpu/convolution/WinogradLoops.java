package dev.tenon.cpu.convolution;

import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Vectors;
import dev.tenon.cpu.machine.WinogradKernel.Groups;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;

/**
 * The transformations of Winograd's convolution F(4x4, 3x3) along one axis, in plain Java: six elements of the input to
 * six, six sums to four results. (A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015; points
 * 0, 1, -1, 2, -2 and infinity.) Offsets and steps are in bytes, counts in elements.
 */
class WinogradLoops {
    private static final class Choice {
        static final WinogradLoops CURRENT =
                MachineWinogradLoops.before(Vectors.available() ? new VectorWinogradLoops() : new WinogradLoops());
    }

    /** The loops to use now. */
    static WinogradLoops current() {
        return Choice.CURRENT;
    }

    /** Six rows of n elements, the first at a place. */
    record Rows(MemorySegment memory, long at, long step) {
        Rows plus(long bytes) {
            return new Rows(memory, at + bytes, step);
        }

        Matrix matrix() {
            return new Matrix(memory, at, step);
        }
    }

    /** {@link #six(Rows, Rows, int)} of groups of rows. */
    void six(Rows x, Rows y, int n, Groups groups) {
        for (int i = 0; i < groups.count(); i++) {
            six(x.plus(i * groups.x()), y.plus(i * groups.y()), n);
        }
    }

    /** {@link #four(Rows, Rows, int, Place, int)} of groups of rows. */
    void four(Rows x, Rows y, int rows, Place bias, int n, Groups groups) {
        for (int i = 0; i < groups.count(); i++) {
            four(x.plus(i * groups.x()), y.plus(i * groups.y()), rows, bias, n);
        }
    }

    /** Six rows of x to six of y, which do not overlap them. */
    void six(Rows x, Rows y, int n) {
        for (int i = 0; i < n; i++) {
            long at = x.at + 4L * i;
            float a = x.memory.get(Raw.F32, at);
            float b = x.memory.get(Raw.F32, at + x.step);
            float c = x.memory.get(Raw.F32, at + 2 * x.step);
            float d = x.memory.get(Raw.F32, at + 3 * x.step);
            float e = x.memory.get(Raw.F32, at + 4 * x.step);
            float f = x.memory.get(Raw.F32, at + 5 * x.step);
            long to = y.at + 4L * i;
            float even = e - 4 * c;
            float odd = d - 4 * b;
            float near = e - c;
            float far = 2 * (d - b);
            y.memory.set(Raw.F32, to, 4 * (a - c) - c + e);
            y.memory.set(Raw.F32, to + y.step, even + odd);
            y.memory.set(Raw.F32, to + 2 * y.step, even - odd);
            y.memory.set(Raw.F32, to + 3 * y.step, near + far);
            y.memory.set(Raw.F32, to + 4 * y.step, near - far);
            y.memory.set(Raw.F32, to + 5 * y.step, 4 * (b - d) - d + f);
        }
    }

    /**
     * Six rows of x to the first {@code rows} of four of y, which do not overlap them, plus a bias for each element.
     *
     * @param bias {@link Place#NONE} for none
     */
    void four(Rows x, Rows y, int rows, Place bias, int n) {
        for (int i = 0; i < n; i++) {
            long at = x.at + 4L * i;
            float a = x.memory.get(Raw.F32, at);
            float b = x.memory.get(Raw.F32, at + x.step);
            float c = x.memory.get(Raw.F32, at + 2 * x.step);
            float d = x.memory.get(Raw.F32, at + 3 * x.step);
            float e = x.memory.get(Raw.F32, at + 4 * x.step);
            float f = x.memory.get(Raw.F32, at + 5 * x.step);
            float start = bias.isNone() ? 0 : bias.memory().get(Raw.F32, bias.offset() + 4L * i);
            float near = b + c;
            float nearer = b - c;
            float far = d + e;
            float farther = d - e;
            long to = y.at + 4L * i;
            y.memory.set(Raw.F32, to, start + a + near + far);
            if (rows > 1) {
                y.memory.set(Raw.F32, to + y.step, start + nearer + 2 * farther);
            }
            if (rows > 2) {
                y.memory.set(Raw.F32, to + 2 * y.step, start + near + 4 * far);
            }
            if (rows > 3) {
                y.memory.set(Raw.F32, to + 3 * y.step, start + nearer + 8 * farther + f);
            }
        }
    }
}
