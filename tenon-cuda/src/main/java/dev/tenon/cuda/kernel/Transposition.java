package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Brings a matrix to the device and exchanges its rows and columns there. It goes part by part through a stretch of
 * device memory, so that a large matrix needs no second one of its size. Immutable.
 */
public final class Transposition {
    private static final long PASSAGE_BYTES = 32 << 20;
    /** Rows of a part are a multiple of it, so that parts are cut between tiles. */
    private static final long TILE = 32;

    /** Some rows: where they lie on the host, and the move to their place as columns. */
    private record Part(long from, long bytes, MovementKernels.Move move) {}

    private final List<Part> parts = new ArrayList<>();

    /**
     * Of a matrix [rows, columns] of elements of whole bytes.
     *
     * @param kernels give the code
     * @throws IllegalArgumentException for any other type
     */
    public Transposition(Kernels kernels, TensorType matrix) {
        this(kernels, matrix, PASSAGE_BYTES);
    }

    /**
     * The same through less memory.
     *
     * @param passageBytes of a part, unless its fewest rows, 32, are more
     */
    public Transposition(Kernels kernels, TensorType matrix, long passageBytes) {
        DType dtype = matrix.dtype();
        if (matrix.shape().rank() != 2 || dtype.bits() < 8) {
            throw new IllegalArgumentException("transposing a constant " + matrix + "; expected a matrix");
        }
        long rows = matrix.shape().size(0);
        long columns = matrix.shape().size(1);
        if (rows == 0 || columns == 0) {
            return;
        }
        MovementKernels movement = new MovementKernels(kernels);
        long rowBytes = SizeMath.product("transposing a constant", columns, dtype.bytes());
        long most = Math.max(TILE, passageBytes / rowBytes / TILE * TILE);
        for (long row = 0; row < rows; row += most) {
            long count = Math.min(most, rows - row);
            parts.add(new Part(
                    row * rowBytes,
                    count * rowBytes,
                    movement.strided(
                            dtype.bytes(), new long[] {columns, count}, 0, new long[] {1, columns}, row, new long[] {
                                rows, 1
                            })));
        }
    }

    /** Bytes of device memory that it goes through. */
    public long passageBytes() {
        return parts.isEmpty() ? 0 : parts.getFirst().bytes();
    }

    /**
     * Enqueues it.
     *
     * @param elements of the matrix, row by row; they stay until the stream has been waited for
     * @param passage at least {@link #passageBytes()}
     * @param result the device address of the transposed matrix, on a 16-byte boundary
     */
    public void enqueue(
            GpuStream stream, KernelArguments arguments, MemorySegment elements, DeviceBuffer passage, long result) {
        for (Part part : parts) {
            stream.copyToDevice(elements.asSlice(part.from(), part.bytes()), passage, 0);
            part.move().enqueue(stream, arguments, passage.address(), result);
        }
    }
}
