package dev.tenon.collective;

import dev.tenon.core.ir.DType;
import dev.tenon.core.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

/**
 * One rank's place in a group of ranks that work together. Every rank calls the same operations in the same order; each
 * call ends when this rank's part is done and its buffers are its own again.
 *
 * <p>Buffers are any length, 0 too. {@code source} and {@code target} are the same memory (in place) or do not overlap,
 * except where an operation says more; memory of one rank is no other's. On host memory a call blocks; a communicator
 * of a device puts the work in its stream's order, and later work of that stream sees the result.
 *
 * <p>Tensors count as their elements, whatever their shape. One in host memory is host memory to every communicator.
 * One in a device's memory goes to a communicator of that device, whose work on it comes after all earlier work on it;
 * runs that read it, reading it on the host, and giving its memory back when it is closed come after the collective,
 * without a wait of the caller's. Should the collective fail, reading the tensor is an error that
 * says so.
 *
 * <p>Every wait ends: after {@link #timeout()} at the latest, or when another rank fails. When ranks ask for different
 * things, each of them gets a {@link dev.tenon.core.error.CollectiveMismatchException} before any element moves; see
 * there and its siblings for what stays usable after a fault.
 *
 * <p>Whatever is wrong with an argument, null too, is a {@link dev.tenon.core.error.TenonException}.
 *
 * <p>Thread-safety: any one thread at a time; a second one is refused. {@link #abort} may come from anywhere.
 */
public interface Communicator extends AutoCloseable {
    /** This rank, from 0 on. */
    int rank();

    /** Number of ranks. */
    int world();

    /** The longest that any wait may take. */
    Duration timeout();

    /** {@code target[i] = op over all ranks of source[i]}, on every rank bit for bit the same. */
    void allReduce(Buffer source, Buffer target, ReduceOp op);

    /**
     * The chunk of {@link #allReduce} that is this rank's, {@link Chunks} says which: {@code target} has its size, and
     * may lie at its place in {@code source}.
     */
    void reduceScatter(Buffer source, Buffer target, ReduceOp op);

    /**
     * All ranks' sources one after the other: {@code source} has the size of this rank's chunk of {@code target}
     * ({@link Chunks} says which), and may lie at its place there.
     */
    void allGather(Buffer source, Buffer target);

    /** Every rank's {@code data} becomes that of rank {@code root}. */
    void broadcast(Buffer data, int root);

    /**
     * Sends {@code send} to rank {@code to} and fills {@code receive} from rank {@code from}; only the ranks named take
     * part, and each may be this one. The two buffers do not overlap.
     */
    void sendRecv(Buffer send, int to, Buffer receive, int from);

    /** Waits until every rank is here. */
    void barrier();

    /**
     * Ends every wait of every rank, now and later, with a {@link dev.tenon.core.error.CollectiveAbortedException} that
     * says why.
     */
    void abort(String reason);

    /** Leaves the group; ranks that wait for this one are told. Idempotent. */
    @Override
    void close();

    /** {@link #allReduce(Buffer, Buffer, ReduceOp)} in place. */
    default void allReduce(float[] data, ReduceOp op) {
        HostBuffer buffer = HostBuffer.of(ArgumentChecks.requireGiven("allReduce", "data", data));
        allReduce(buffer, buffer, op);
    }

    /** {@link #allReduce(Buffer, Buffer, ReduceOp)} out of place. */
    default void allReduce(float[] source, float[] target, ReduceOp op) {
        allReduce(
                HostBuffer.of(ArgumentChecks.requireGiven("allReduce", "source", source)),
                HostBuffer.of(ArgumentChecks.requireGiven("allReduce", "target", target)),
                op);
    }

    /** {@link #allReduce(Buffer, Buffer, ReduceOp)} in place. */
    default void allReduce(MemorySegment data, DType dtype, ReduceOp op) {
        HostBuffer buffer = HostBuffer.of(ArgumentChecks.requireGiven("allReduce", "data", data), dtype);
        allReduce(buffer, buffer, op);
    }

    /** {@link #allReduce(Buffer, Buffer, ReduceOp)} out of place. */
    default void allReduce(MemorySegment source, MemorySegment target, DType dtype, ReduceOp op) {
        allReduce(
                HostBuffer.of(ArgumentChecks.requireGiven("allReduce", "source", source), dtype),
                HostBuffer.of(ArgumentChecks.requireGiven("allReduce", "target", target), dtype),
                op);
    }

    /** {@link #allReduce(Buffer, Buffer, ReduceOp)} in place. */
    default void allReduce(Tensor data, ReduceOp op) {
        Buffer buffer = TensorBuffer.of(ArgumentChecks.requireGiven("allReduce", "data", data));
        allReduce(buffer, buffer, op);
    }

    /** {@link #allReduce(Buffer, Buffer, ReduceOp)} out of place. */
    default void allReduce(Tensor source, Tensor target, ReduceOp op) {
        allReduce(
                TensorBuffer.of(ArgumentChecks.requireGiven("allReduce", "source", source)),
                TensorBuffer.of(ArgumentChecks.requireGiven("allReduce", "target", target)),
                op);
    }

    /** {@link #reduceScatter(Buffer, Buffer, ReduceOp)}. */
    default void reduceScatter(Tensor source, Tensor target, ReduceOp op) {
        reduceScatter(
                TensorBuffer.of(ArgumentChecks.requireGiven("reduceScatter", "source", source)),
                TensorBuffer.of(ArgumentChecks.requireGiven("reduceScatter", "target", target)),
                op);
    }

    /** {@link #allGather(Buffer, Buffer)}. */
    default void allGather(Tensor source, Tensor target) {
        allGather(
                TensorBuffer.of(ArgumentChecks.requireGiven("allGather", "source", source)),
                TensorBuffer.of(ArgumentChecks.requireGiven("allGather", "target", target)));
    }

    /** {@link #broadcast(Buffer, int)}. */
    default void broadcast(Tensor data, int root) {
        broadcast(TensorBuffer.of(ArgumentChecks.requireGiven("broadcast", "data", data)), root);
    }

    /** {@link #sendRecv(Buffer, int, Buffer, int)}. */
    default void sendRecv(Tensor send, int to, Tensor receive, int from) {
        sendRecv(
                TensorBuffer.of(ArgumentChecks.requireGiven("sendRecv", "send", send)),
                to,
                TensorBuffer.of(ArgumentChecks.requireGiven("sendRecv", "receive", receive)),
                from);
    }

    /** {@link #reduceScatter(Buffer, Buffer, ReduceOp)}. */
    default void reduceScatter(float[] source, float[] target, ReduceOp op) {
        reduceScatter(
                HostBuffer.of(ArgumentChecks.requireGiven("reduceScatter", "source", source)),
                HostBuffer.of(ArgumentChecks.requireGiven("reduceScatter", "target", target)),
                op);
    }

    /** {@link #allGather(Buffer, Buffer)}. */
    default void allGather(float[] source, float[] target) {
        allGather(
                HostBuffer.of(ArgumentChecks.requireGiven("allGather", "source", source)),
                HostBuffer.of(ArgumentChecks.requireGiven("allGather", "target", target)));
    }

    /** {@link #broadcast(Buffer, int)}. */
    default void broadcast(float[] data, int root) {
        broadcast(HostBuffer.of(ArgumentChecks.requireGiven("broadcast", "data", data)), root);
    }

    /** {@link #sendRecv(Buffer, int, Buffer, int)}. */
    default void sendRecv(float[] send, int to, float[] receive, int from) {
        sendRecv(
                HostBuffer.of(ArgumentChecks.requireGiven("sendRecv", "send", send)),
                to,
                HostBuffer.of(ArgumentChecks.requireGiven("sendRecv", "receive", receive)),
                from);
    }
}
