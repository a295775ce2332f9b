package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.lower.step.Workspace;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;

/** Launches that bring the channels of images or weights side by side, in whole chunks of 16 bytes. */
final class ConvPack {
    /** Inner elements that one tile has all of. */
    private static final long FEW = 32;

    private static final long FOUR = 4;

    /** Entries of {@code conv_pack.cu}, and the channels and inner elements of their tiles. */
    private enum Form {
        PLAIN("conv_pack", 32, 32),
        WIDE("conv_pack_wide", 32, 128),
        FEW("conv_pack_few", 64, ConvPack.FEW);

        final String entry;
        final long channels;
        final long inner;

        Form(String entry, long channels, long inner) {
            this.entry = entry;
            this.channels = channels;
            this.inner = inner;
        }
    }

    private static final int CHUNK_BYTES = 16;
    /** Microseconds of a launch, and bytes that it writes in one more. */
    private static final double FIXED = 2.2;

    private static final double WRITTEN = 2e6;

    private ConvPack() {}

    /**
     * The images and the weights of a convolution in one group whose channels are whole chunks.
     *
     * @param x where the images are in the workspace, by the launch before
     * @param w where the weights are
     * @param bytes of workspace
     */
    record Both(PreparedLaunch images, long x, PreparedLaunch weights, long w, long bytes) {
        static Both of(ConvGeometry geometry, ConvOperands operands, GpuLoweringContext context) {
            DType dtype = operands.dtype();
            Workspace workspace = new Workspace();
            long x = workspace.take(imageBytes(geometry, dtype));
            long w = workspace.take(weightBytes(geometry, dtype));
            long channels = geometry.channels();
            return new Both(
                    launch(operands.x(), x, dtype, context, new long[] {geometry.batch(), 1, channels, geometry.area()
                    }),
                    x,
                    launch(operands.w(), w, dtype, context, new long[] {
                        geometry.outputs(), 1, channels, geometry.cells()
                    }),
                    w,
                    workspace.bytes());
        }

        /** By the model. */
        static double microseconds(ConvGeometry geometry, DType dtype) {
            return ConvPack.microseconds(imageBytes(geometry, dtype))
                    + ConvPack.microseconds(weightBytes(geometry, dtype));
        }

        private static long imageBytes(ConvGeometry geometry, DType dtype) {
            return dtype.bytesFor(SizeMath.product("conv", geometry.batch(), geometry.area(), geometry.channels()));
        }

        private static long weightBytes(ConvGeometry geometry, DType dtype) {
            return dtype.bytesFor(SizeMath.product("conv", geometry.outputs(), geometry.cells(), geometry.channels()));
        }

        void enqueue(GpuFrame frame) {
            images.enqueue(frame);
            weights.enqueue(frame);
        }
    }

    /**
     * Microseconds of a launch by the model.
     *
     * @param bytes that are written
     */
    static double microseconds(long bytes) {
        return FIXED + bytes / WRITTEN;
    }

    /**
     * The launch.
     *
     * @param slot of what is packed
     * @param to where in the workspace
     * @param sizes outer, groups, channels of a group, inner
     */
    static PreparedLaunch launch(int slot, long to, DType dtype, GpuLoweringContext context, long[] sizes) {
        long chunks = Math.ceilDiv(dtype.bytesFor(sizes[2]), (long) CHUNK_BYTES);
        long packed = chunks * CHUNK_BYTES / dtype.bytes();
        boolean single = chunks == 1 && sizes[1] == 1;
        Form form = sizes[3] <= FEW ? Form.FEW : sizes[3] % FOUR == 0 ? Form.WIDE : Form.PLAIN;
        LaunchShape shape = single
                ? Grids.of(SizeMath.product("conv", sizes[0], sizes[3]))
                : LaunchShape.of(
                        SizeMath.toInt("conv", Math.ceilDiv(sizes[3], form.inner), Math.ceilDiv(packed, form.channels)),
                        (int) Math.min(SizeMath.product("conv", sizes[0], sizes[1]), GridLimits.YZ),
                        1,
                        Grids.THREADS);
        String entry = single ? "conv_pack_chunk" : form.entry;
        return PreparedLaunch.of(
                        context.kernels().kernel(WindowCatalog.CONV_PACK, entry, WindowCatalog.packed(dtype.bytes())),
                        shape)
                .value(slot)
                .workspace(to)
                .addAll(sizes[0], sizes[1], sizes[2], packed, sizes[3])
                .build();
    }
}
