package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import java.util.stream.LongStream;

/** How one of the kernels for few channels cuts a convolution. Immutable. */
sealed interface FewChannelsPlan permits FewChannelsTiles, FewChannelsMmaTiles {
    /** What a block has on every device, less what the kernels declare. */
    long MOST_SHARED = (48 << 10) - 256;

    KernelFile file();

    String entry();

    /** Threads of a block. */
    int threads();

    /** Blocks of a part of the output channels. */
    long blocks();

    /** Parts of the output channels. */
    long parts();

    /** Shared memory of a block. */
    long sharedBytes();

    /** Positions of a tile. */
    long rows();

    /** Likewise, the binary logarithm. */
    int columns();

    /** How many ways the output channels of a block are shared. */
    int shares();

    /** The words that end the struct FewChannelsSizes of few_channels.cuh. */
    default LongStream words(ConvGeometry geometry) {
        return LongStream.of(
                shares(),
                rows(),
                columns(),
                Math.ceilDiv(geometry.axes().getFirst().output(), rows()),
                Math.ceilDiv(geometry.axes().getLast().output(), 1L << columns()));
    }

    /** Adds the arguments that follow those of both kernels. */
    default PreparedLaunch.Builder rest(PreparedLaunch.Builder launch, ConvGeometry geometry) {
        return launch;
    }

    /** By the model. */
    double microseconds(ConvGeometry geometry, int multiprocessors);

    /** {@code conv_few_channels_8, tiles of 8x32, f16}. */
    default String text(DType dtype) {
        return entry() + ", tiles of " + rows() + "x" + (1 << columns()) + ", " + dtype;
    }
}
