package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.backend.Program;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.blas.BlasHandle;
import dev.tenon.cuda.lower.Frame;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import java.lang.foreign.Arena;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A session's stream and memory, as large as its largest plan needs, and for each plan its addresses and its recorded work. A run returns when the device has done it, so nothing that it used is in use afterwards. Used by one thread at a
 * time.
 */
final class GpuSession implements Device.Context {
    private final GpuDevice device;
    private final GpuContext context;
    private final GpuStream stream;
    private final Arena arena = Arena.ofShared();
    private final KernelArguments arguments = new KernelArguments(arena);
    private final GrowingMemory io;
    private final GrowingMemory activations;
    private final GrowingMemory workspace;
    private final GrowingMemory counters;
    private final Transfers transfers;
    private @Nullable BlasHandle blas;
    /** Where nodes without kernels run. */
    private Device.@Nullable Context host;

    private final HostBytes hostBytes;
    /** Weak, so that a program that the runtime has evicted takes its addresses with it. */
    private final Map<GpuProgram, Prepared> prepared = new WeakHashMap<>();
    /** All recorded work; that of evicted programs is closed when the next program comes. */
    private final List<Recorded> recordings = new ArrayList<>();

    /** Whether work of a run may still be under way. */
    private boolean inFlight;

    private boolean closed;

    /** Recorded work, and the program that it is of for as long as that is known. */
    private record Recorded(WeakReference<GpuProgram> program, ExecutableGraph graph) {}

    /** A program's addresses here, and its work once it is recorded. */
    private static final class Prepared {
        final Frame frame;
        boolean ran;

        @Nullable
        ExecutableGraph graph;

        Prepared(Frame frame) {
            this.frame = frame;
        }
    }

    GpuSession(GpuDevice device) {
        this.device = device;
        context = device.context();
        MemoryLedger ledger = device.ledger();
        io = new GrowingMemory(context, ledger, MemoryLedger.Use.WORKSPACE, "the inputs and outputs of a session");
        activations = new GrowingMemory(context, ledger, MemoryLedger.Use.ACTIVATIONS, "the activations of a session");
        workspace = new GrowingMemory(context, ledger, MemoryLedger.Use.WORKSPACE, "the scratch memory of a session");
        counters = new GrowingMemory(context, ledger, MemoryLedger.Use.WORKSPACE, "the counters of a session");
        hostBytes = new HostBytes(ledger);
        stream = context.newStream();
        transfers = new Transfers(device, stream, io);
    }

    /**
     * Runs a program on inputs of exactly its types.
     *
     * @param stay whether results stay in device memory
     */
    Tensor[] run(GpuProgram program, Tensor[] inputs, boolean stay) {
        if (closed) {
            throw new ClosedException("the session is closed");
        }
        settle();
        inFlight = true;
        try {
            Prepared ready = prepare(program);
            transfers.in(program.io(), inputs);
            work(program, ready);
            Tensor[] outputs = transfers.out(program, stay);
            inFlight = false; // the results were waited for
            return outputs;
        } catch (RuntimeException | Error e) {
            forgetFault();
            throw e;
        } finally {
            settle();
        }
    }

    /**
     * Waits for what a failed run has enqueued, and lets go of its inputs. Where the wait itself fails for want of heap, everything stays held until the next call gets through it: memory is given back behind its last use and never
     * before.
     */
    private void settle() {
        if (inFlight) {
            drain();
            inFlight = false;
        }
        transfers.release();
    }

    private Prepared prepare(GpuProgram program) {
        Prepared known = prepared.get(program);
        if (known != null) {
            return known;
        }
        closeEvicted();
        if (io.bytes() < program.io().bytes()
                || activations.bytes() < program.arenaBytes()
                || workspace.bytes() < program.scratchBytes()
                || counters.bytes() < program.counterBytes()) {
            forgetAll();
        }
        if (io.grow(program.io().bytes())) {
            stream.fill(io.buffer(), 0, IoLayout.FAULT_BYTES, (byte) 0);
        }
        activations.grow(program.arenaBytes());
        workspace.grow(program.scratchBytes());
        if (counters.grow(program.counterBytes())) {
            stream.fill(counters.buffer(), 0, counters.bytes(), (byte) 0);
        }
        Frame frame = new Frame(
                stream,
                arguments,
                new Frame.Addresses(
                        program.addresses(io.address(), activations.address()),
                        workspace.address(),
                        counters.address(),
                        io.address()),
                handle(),
                Stream.concat(
                                Stream.of(io, activations)
                                        .filter(memory -> memory.bytes() > 0)
                                        .map(GrowingMemory::buffer),
                                program.constantBuffers().stream())
                        .toList(),
                this::onHost);
        Prepared made = new Prepared(frame);
        prepared.put(program, made);
        return made;
    }

    private Tensor[] onHost(Program program, Tensor[] operands) {
        Device.Context where = host;
        if (where == null) {
            where = HostBackend.device("a step of the CPU backend").newContext();
            host = where;
        }
        try {
            return program.run(where, operands);
        } finally {
            hostBytes.are(where.bytes());
        }
    }

    private @Nullable BlasHandle handle() {
        Blas libraries = device.blas();
        boolean any =
                libraries.unavailable().isEmpty() || libraries.ltUnavailable().isEmpty();
        if (blas == null && any) {
            blas = libraries.newHandle(stream);
        }
        return blas;
    }

    /** The first run goes step by step: libraries load what they need then, which they must not while work is recorded. */
    private void work(GpuProgram program, Prepared ready) {
        if (ready.graph == null && ready.ran && program.recorded()) {
            ready.graph = record(program, ready.frame);
            recordings.add(new Recorded(new WeakReference<>(program), ready.graph));
        }
        if (ready.graph != null) {
            stream.launch(ready.graph);
            return;
        }
        program.enqueue(ready.frame);
        ready.ran = true;
    }

    private ExecutableGraph record(GpuProgram program, Frame frame) {
        stream.beginCapture();
        try {
            program.enqueue(frame);
        } catch (RuntimeException | Error e) {
            stream.abortCapture();
            throw e;
        }
        try (CapturedGraph recorded = stream.endCapture()) {
            return recorded.instantiate();
        }
    }

    /** A run that ends before its faults were looked at must not leave one to the next. */
    private void forgetFault() {
        if (io.bytes() == 0) {
            return;
        }
        try {
            stream.fill(io.buffer(), 0, IoLayout.FAULT_BYTES, (byte) 0);
        } catch (TenonException _) {
            // the device is lost, and the failure that led here says more
        }
    }

    /** After a failure: what was enqueued is done, or the device is lost, before memory is given back. */
    private void drain() {
        try {
            stream.synchronize();
        } catch (TenonException _) {
            // the failure that led here says more
        }
    }

    private void closeEvicted() {
        recordings.removeIf(recorded -> {
            boolean evicted = recorded.program.get() == null;
            if (evicted) {
                recorded.graph.close();
            }
            return evicted;
        });
    }

    private void forgetAll() {
        recordings.forEach(recorded -> recorded.graph.close());
        recordings.clear();
        prepared.clear();
    }

    @Override
    public long bytes() {
        return io.bytes() + activations.bytes() + workspace.bytes() + counters.bytes();
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        drain();
        transfers.release();
        closed = true; // not before: a close that could not wait may be called again
        forgetAll();
        if (blas != null) {
            blas.close();
        }
        if (host != null) {
            host.close();
            hostBytes.are(0);
        }
        transfers.close();
        io.close();
        activations.close();
        workspace.close();
        counters.close();
        stream.close();
        arena.close();
    }
}
