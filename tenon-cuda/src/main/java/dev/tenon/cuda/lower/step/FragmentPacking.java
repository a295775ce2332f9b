package dev.tenon.cuda.lower.step;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.cuda.kernel.EncoderCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.MemorySegment;

/** Brings a matrix to the device and puts it in the order of {@link WeightOrder.Fragments} there. Immutable. */
public final class FragmentPacking {
    private static final int THREADS = 256;
    private static final int PIECE_BYTES = 16;

    private final Kernel kernel;
    private final TensorType matrix;
    private final WeightOrder.Fragments order;

    /**
     * Of a matrix.
     *
     * @param kernels give the code
     * @throws IllegalArgumentException for one of another size than the order's
     */
    public FragmentPacking(Kernels kernels, TensorType matrix, WeightOrder.Fragments order) {
        if (matrix.shape().elements() != SizeMath.product("fragments", order.items(), order.n(), order.k())) {
            throw new IllegalArgumentException(order + " of " + matrix);
        }
        this.kernel = kernels.kernel(EncoderCatalog.FRAGMENTS, "fragments", KernelVariant.of(matrix.dtype()));
        this.matrix = matrix;
        this.order = order;
    }

    /** Bytes of device memory that it goes through. */
    public long passageBytes() {
        return matrix.bytes();
    }

    /**
     * Enqueues it.
     *
     * @param elements of the matrix, row by row; they stay until the stream has been waited for
     * @param passage at least {@link #passageBytes()}
     * @param result the device address of what it makes, on a 16-byte boundary
     */
    public void enqueue(
            GpuStream stream, KernelArguments arguments, MemorySegment elements, DeviceBuffer passage, long result) {
        stream.copyToDevice(elements, passage, 0);
        int pieces = SizeMath.toInt("fragments", matrix.bytes() / PIECE_BYTES);
        int columns = SizeMath.toInt("fragments", matrix.shape().size(1));
        stream.launch(
                kernel.function(),
                LaunchShape.of(Math.ceilDiv(pieces, THREADS), THREADS),
                arguments
                        .clear()
                        .add(passage)
                        .add(result)
                        .add(pieces)
                        .add(order.groups())
                        .add(order.splits())
                        .add(order.tiles())
                        .add(order.n())
                        .add(order.k())
                        .add(order.run())
                        .add(order.jump())
                        .add(order.along() ? columns : 1)
                        .add(order.along() ? 1 : columns));
    }
}
