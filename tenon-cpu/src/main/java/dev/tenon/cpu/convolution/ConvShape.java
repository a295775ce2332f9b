package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.window.Windows3;

/**
 * The sizes of a convolution.
 *
 * @param channelsIn channels of the input in one group
 * @param channelsOut channels of the output in one group
 */
record ConvShape(Windows3 windows, long batch, int groups, int channelsIn, int channelsOut) {
    static ConvShape of(Windows3 windows, Shape input, Shape output, long groups) {
        return new ConvShape(
                windows,
                input.size(0),
                SizeMath.toInt("conv", groups),
                SizeMath.toInt("conv", input.size(1) / groups),
                SizeMath.toInt("conv", output.size(1) / groups));
    }

    /** Multiplications for one element of the output. */
    long depth() {
        return (long) channelsIn * windows.cells();
    }

    /** The output's planes: batch times channels. */
    long planes() {
        return batch * groups * channelsOut;
    }
}
