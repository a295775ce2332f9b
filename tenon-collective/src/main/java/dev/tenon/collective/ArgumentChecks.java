package dev.tenon.collective;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What every communicator asks of the arguments of its operations; each fault is an {@link InputException} that begins
 * with the operation's name.
 */
public final class ArgumentChecks {
    private ArgumentChecks() {}

    /**
     * That an argument is not null.
     *
     * @param what its name
     * @return the argument
     */
    public static <T> T requireGiven(String operation, String what, @Nullable T argument) {
        if (argument == null) {
            throw InputException.of(what, operation + ": argument \"" + what + "\" is null; expected a value");
        }
        return argument;
    }

    /** That a source and a target are not null. */
    public static void requireBuffers(String operation, @Nullable Buffer source, @Nullable Buffer target) {
        requireGiven(operation, "source", source);
        requireGiven(operation, "target", target);
    }

    /**
     * That a rank is one of the world's.
     *
     * @param what who has that rank, as in "the sender"
     */
    public static void requireRank(String operation, String what, int rank, int world) {
        if (rank < 0 || rank >= world) {
            throw new InputException(operation + ": " + what + " is rank " + rank + "; ranks are 0 to " + (world - 1));
        }
    }

    /**
     * That a buffer is host memory.
     *
     * @param who the ranks that need that, as in "ranks over MPI"
     * @throws UnsupportedException naming where it is instead, and the fix
     */
    public static HostBuffer requireHost(String operation, Buffer buffer, String who) {
        return switch (buffer) {
            case HostBuffer host -> host;
            case TensorBuffer on ->
                throw new UnsupportedException(
                        operation + ": tensor " + on.tensor().type() + " lies in the memory of "
                                + Objects.requireNonNull(on.tensor().resident()).device() + ", and " + who
                                + " work on host memory; use a communicator of that device (GpuGroup, GpuRank), or copies on the host: Tensor.wrap(tensor.type(), tensor.segment())");
            default ->
                throw new UnsupportedException(operation + ": " + who + " work on host memory, not on "
                        + buffer.getClass().getSimpleName() + "; use the communicator of that device");
        };
    }

    /** That the memory's arena is open. */
    public static void requireAlive(String operation, HostBuffer buffer) {
        if (!buffer.memory().scope().isAlive()) {
            throw new InputException(operation + ": the memory's arena is closed");
        }
    }

    /** That the memory may be written. */
    public static void requireWritable(String operation, HostBuffer target) {
        if (target.memory().isReadOnly()) {
            throw new InputException(operation + ": the target is read-only memory");
        }
    }

    /** That a target is as long as the result and of its type. */
    public static void requireFits(String operation, Buffer target, long length, DType dtype) {
        if (target.length() != length || target.dtype() != dtype) {
            throw new InputException(
                    operation + ": the target is " + target + ", the result is " + length + " " + dtype);
        }
    }

    /** That a rank's source is its chunk of what is gathered. */
    public static void requireChunk(String operation, Buffer source, Buffer target, int rank, int world) {
        long size = new Chunks(target.length(), world).size(rank);
        if (source.length() != size || source.dtype() != target.dtype()) {
            throw new InputException(
                    operation + ": rank " + rank + "'s source is " + source + "; its chunk of the target, " + target
                            + " over " + world + " ranks, is " + size + " " + target.dtype());
        }
    }
}
