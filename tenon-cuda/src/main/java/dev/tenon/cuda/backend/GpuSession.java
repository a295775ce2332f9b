package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.backend.RunObserver;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A session's streams and memory, as large as its largest plan needs, and for each plan its addresses and its recorded
 * work. A run returns when the device has done it, so nothing that it used is in use afterwards. Used by one thread at
 * a time.
 */
final class GpuSession implements Device.State {
    /** Sizes that come once are not worth a recording, which takes some hundred microseconds. */
    private static final int RUNS_BEFORE_RECORDING = 1;

    private final GpuDevice device;
    private final GpuContext context;
    private final FaultWord faults;
    private final GrowingMemory io;
    private final GrowingMemory activations;
    private final SessionLanes lanes;
    private final GpuStream stream;
    private final Transfers transfers;
    private @Nullable RunObserver observer;
    private final Recordings<ProgramState.Recording> recordings;
    private final Map<ProgramResources, ProgramState> prepared = new ConcurrentHashMap<>();
    /**
     * What belongs to programs that are closed or to addresses that are gone, and is not closed yet. Guarded by
     * itself.
     */
    private final List<ProgramState> dropped = new ArrayList<>();

    /** Whether work of a run may still be under way. */
    private boolean inFlight;
    /** Whether a run has failed and left a fault or counters that are not 0. */
    private boolean dirty = true;

    private boolean closed;

    GpuSession(GpuDevice device) {
        this.device = device;
        context = device.context();
        MemoryLedger ledger = device.ledger();
        io = new GrowingMemory(context, ledger, MemoryLedger.Use.WORKSPACE, "the inputs and outputs of a session");
        activations = new GrowingMemory(context, ledger, MemoryLedger.Use.ACTIVATIONS, "the activations of a session");
        faults = new FaultWord(context);
        try {
            lanes = new SessionLanes(device); // nothing that could fail comes after it
        } catch (RuntimeException | Error e) {
            Closing.after(e, faults::close);
            throw e;
        }
        stream = lanes.stream();
        transfers = new Transfers(device, stream, lanes.lane(0).arguments(), io, faults);
        recordings = new Recordings<>(device.options().recordedBytes());
    }

    /**
     * Runs a program on inputs of exactly its types.
     *
     * @param stay whether results stay in device memory
     */
    Tensor[] run(GpuProgram program, Tensor[] inputs, boolean stay) {
        device.activity().begin();
        try {
            return runWhileBusy(program, inputs, stay);
        } finally {
            device.activity().end();
        }
    }

    private Tensor[] runWhileBusy(GpuProgram program, Tensor[] inputs, boolean stay) {
        if (closed) {
            throw new ClosedException("the session is closed");
        }
        program.resources().requireOpen();
        settle();
        inFlight = true;
        Tensor[] outputs;
        try {
            ProgramState ready = prepare(program);
            clean();
            transfers.begin(program, inputs, stay);
            RunObserver told = observer;
            if (told == null) {
                work(program, ready, inputs);
                outputs = transfers.out(program);
            } else {
                outputs = runObserved(program, ready, inputs, told);
            }
            inFlight = false; // the results were waited for
        } catch (RuntimeException | Error e) {
            dirty = true;
            Closing.after(e, this::settle);
            throw e;
        }
        settle();
        return outputs;
    }

    private Tensor[] runObserved(GpuProgram program, ProgramState ready, Tensor[] inputs, RunObserver told) {
        try (RunTimeline timeline = new RunTimeline(context, stream)) {
            transfers.in(program, inputs);
            timeline.mark();
            program.enqueue(ready.frames.first(), timeline);
            transfers.back(program);
            Tensor[] outputs = transfers.out(program);
            timeline.mark();
            stream.synchronize();
            timeline.tell(program, told);
            return outputs;
        }
    }

    @Override
    public void observe(@Nullable RunObserver next) {
        observer = next;
    }

    /**
     * Waits for what a failed run has enqueued, and lets go of its inputs. Where the wait itself fails for want of
     * heap, everything stays held until the next call gets through it: memory is given back behind its last use and
     * never before.
     */
    private void settle() {
        if (inFlight) {
            drain();
            inFlight = false;
        }
        transfers.release();
    }

    private ProgramState prepare(GpuProgram program) {
        ProgramState known = prepared.get(program.resources());
        if (known != null) {
            return known;
        }
        if (io.bytes() < program.io().bytes() || activations.bytes() < program.arenaBytes() || !lanes.hold(program)) {
            dropAll();
        }
        io.grow(program.io().bytes());
        activations.grow(program.arenaBytes());
        dirty |= lanes.grow(program);
        HostSteps host = new HostSteps(device.host(), device.ledger());
        ProgramState made = new ProgramState(frames(program, host, null), host);
        program.resources().usedBy(this);
        prepared.put(program.resources(), made);
        return made;
    }

    private LaneFrames frames(GpuProgram program, HostSteps host, @Nullable Ends ends) {
        long[] values = program.addresses(io.address(), activations.address(), ends);
        List<DeviceBuffer> buffers = Stream.concat(
                        Stream.of(io, activations)
                                .filter(memory -> memory.bytes() > 0)
                                .map(GrowingMemory::buffer),
                        program.resources().buffers().stream())
                .toList();
        List<GpuFrame> frames = new ArrayList<>();
        for (int i = 0; i < program.lanes(); i++) {
            Lane lane = lanes.lane(i);
            GpuFrame.Addresses addresses =
                    new GpuFrame.Addresses(values, lane.workspaceAddress(), lane.countersAddress(), faults.address());
            frames.add(new GpuFrame(lane.stream(), lane.arguments(), addresses, lane.blas(), buffers, host));
        }
        return new LaneFrames(frames, lanes.events(program.marks()));
    }

    /**
     * Zeroes the word of faults and the counters where they are new or a run that failed has left something in them.
     */
    private void clean() {
        if (dirty) {
            faults.clear();
            lanes.clean();
            dirty = false;
        }
    }

    /**
     * Records what has run often enough to be worth it, between the copies of inputs and results or, where these come
     * back to the same places, for just these. The first run, and the first after products have taken other
     * algorithms, goes step by step in any case: libraries load what they need then, which they must not while work is
     * recorded.
     */
    private void work(GpuProgram program, ProgramState ready, Tensor[] inputs) {
        int generation = device.tuner().generation();
        if (ready.generation != generation) {
            ready.forget();
            ready.runs = 0;
            ready.generation = generation;
        }
        Ends ends = program.whole() ? transfers.ends(program) : null;
        ProgramState.Recording bound = ends == null ? null : ready.bound(ends, recordings::remove);
        boolean records = ready.runs >= RUNS_BEFORE_RECORDING && program.recorded();
        if (records && bound != null) {
            transfers.stage(program, inputs);
            replay(program, ready, bound);
            return;
        }
        transfers.in(program, inputs);
        if (records) {
            replay(program, ready, ready.copied);
        } else {
            program.enqueue(ready.frames);
            ready.runs++;
        }
        transfers.back(program);
    }

    private void replay(GpuProgram program, ProgramState ready, ProgramState.Recording recording) {
        RecordedWork work = recorded(program, ready, recording);
        recordings.use(recording);
        work.replay();
    }

    private RecordedWork recorded(GpuProgram program, ProgramState ready, ProgramState.Recording recording) {
        RecordedWork known = recording.work;
        if (known != null && known.complete()) {
            return known;
        }
        recording.forget(); // of a recording that failed
        Ends ends = recording.ends;
        boolean first = ends != null && ready.unbound();
        RecordedWork made = ends == null
                ? new RecordedWork(program, ready.frames, RecordedWork.Edges.NONE)
                : new RecordedWork(program, frames(program, ready.host, ends), transfers.edges(program, ends));
        recording.work = made; // held from the first stretch on, so that a failure leaks nothing
        made.record(device.tuner().recording().readLock());
        synchronized (dropped) { // none is closed by another thread meanwhile; and none is under way
            Closing closing = new Closing();
            recordings.add(recording, made.bytes()).forEach(other -> closing.step(other::forget));
            if (first) { // made anew where other ends come
                recordings.remove(ready.copied);
                closing.step(ready.copied::forget);
            }
            closing.end();
        }
        return made;
    }

    /** After a failure: what was enqueued is done, or the device is lost, before memory is given back. */
    private void drain() {
        lanes.drain();
    }

    /** Lets go of all addresses here, as they are about to change. */
    private void dropAll() {
        Closing closing = new Closing();
        for (ProgramResources program : prepared.keySet()) {
            program.leftBy(this);
            closing.step(() -> closeDropped(program));
        }
        closing.end();
    }

    /**
     * Closes what is here of a program that is not run any more, or of addresses that are gone. Called by any thread.
     */
    void closeDropped(ProgramResources program) {
        synchronized (dropped) {
            ProgramState gone = prepared.remove(program);
            if (gone != null) {
                gone.recordings().forEach(recordings::remove);
                dropped.add(gone);
            }
            closeDropped();
        }
    }

    private void closeDropped() {
        synchronized (dropped) {
            Closing closing = new Closing();
            closing.each(dropped, ProgramState::close);
            closing.end();
        }
    }

    @Override
    public long bytes() {
        return io.bytes() + activations.bytes() + lanes.bytes();
    }

    @Override
    public void close() {
        if (!closed) {
            drain();
            transfers.release();
            closed = true; // not before: a close that could not wait may be called again
        }
        Closing closing = new Closing();
        closing.step(this::dropAll);
        closing.step(this::closeDropped);
        closing.step(transfers::close);
        closing.step(io::close);
        closing.step(faults::close);
        closing.step(activations::close);
        closing.step(lanes::close);
        closing.end();
    }
}
