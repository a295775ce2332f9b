package dev.tenon.cuda.dnn;

import static dev.tenon.nativelib.cudnn.CudnnConstants.*;

import dev.tenon.core.ir.DType;
import dev.tenon.nativelib.cudnn.Cudnn;
import dev.tenon.nativelib.cudnn.CudnnLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Descriptors of one operation graph, and what is asked of it. The context is current in every call. Used by one thread
 * at a time.
 */
abstract sealed class DnnDescriptors implements AutoCloseable permits DnnGraph, DnnAttentionGraph {
    /** Values start on 64-byte boundaries; more than 16 makes no difference to the library. */
    static final long ALIGNMENT = 16;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
    private final List<Long> created = new ArrayList<>();
    private final DnnOperation operation;
    private final long handle;

    DnnDescriptors(DnnOperation operation, long handle) {
        this.operation = operation;
        this.handle = handle;
    }

    /** Descriptors for an operation. */
    static DnnDescriptors of(DnnOperation operation, long handle) {
        return switch (operation) {
            case DnnProblem convolution -> new DnnGraph(convolution, handle);
            case DnnAttention attention -> new DnnAttentionGraph(attention, handle);
        };
    }

    /** The graph of the operation, finalized. */
    abstract long build();

    /** Whether tensor cores may round what they multiply to TF32, or need not. */
    abstract boolean mayRound();

    /** Whether an engine, by its number, is right for all elements of the operation's types. */
    abstract boolean isRight(long engine);

    final long graph(List<Long> operations) {
        long graph = create(OPERATIONGRAPH_DESCRIPTOR);
        longs(graph, OPERATIONGRAPH_HANDLE, TYPE_HANDLE, handle);
        longs(
                graph,
                OPERATIONGRAPH_OPS,
                TYPE_BACKEND_DESCRIPTOR,
                operations.stream().mapToLong(Long::longValue).toArray());
        finish(graph, "operation graph");
        return graph;
    }

    /** Says yes to a question. */
    final void set(long descriptor, int name) {
        out.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
        set(descriptor, name, TYPE_BOOLEAN, 1, out);
    }

    static int type(DType dtype) {
        return dtype == DType.F16 ? DATA_HALF : dtype == DType.BF16 ? DATA_BFLOAT16 : DATA_FLOAT;
    }

    /** Engine configurations for a graph, the library's favourite first. */
    final List<Long> configurations(long graph, int mode, int most) {
        long heuristic = create(ENGINEHEUR_DESCRIPTOR);
        longs(heuristic, ENGINEHEUR_OPERATION_GRAPH, TYPE_BACKEND_DESCRIPTOR, graph);
        number(heuristic, ENGINEHEUR_MODE, TYPE_HEUR_MODE, mode);
        if (Cudnn.cudnnBackendFinalize(heuristic) != 0) {
            return List.of();
        }
        MemorySegment found = arena.allocate(ValueLayout.JAVA_LONG, most);
        for (int i = 0; i < most; i++) {
            found.setAtIndex(ValueLayout.JAVA_LONG, i, create(ENGINECFG_DESCRIPTOR));
        }
        int status = Cudnn.cudnnBackendGetAttribute(
                heuristic, ENGINEHEUR_RESULTS, TYPE_BACKEND_DESCRIPTOR, most, out.address(), found.address());
        List<Long> all = new ArrayList<>();
        long count = status == 0 ? Math.min(most, out.get(ValueLayout.JAVA_LONG, 0)) : 0;
        for (int i = 0; i < count; i++) {
            all.add(found.getAtIndex(ValueLayout.JAVA_LONG, i));
        }
        return all;
    }

    /** Whether the engine of a configuration computes as exactly as the problem asks, and the same each time. */
    final boolean isExact(long configuration) {
        long engine = engineOf(configuration);
        int[] notes = notes(engine, ENGINE_NUMERICAL_NOTE, TYPE_NUMERICAL_NOTE, NOTE_TYPE_COUNT);
        MemorySegment number = arena.allocate(ValueLayout.JAVA_LONG);
        return notes != null
                && count(engine, ENGINE_GLOBAL_INDEX, TYPE_INT64, 1, number) == 1
                && isRight(number.get(ValueLayout.JAVA_LONG, 0))
                && Arrays.stream(notes).noneMatch(note -> {
                    boolean rounds = note == NOTE_TENSOR_CORE && !mayRound();
                    return rounds || (note >= NOTE_DOWN_CONVERT_INPUTS && note <= NOTE_WINOGRAD_TILE_13X13);
                });
    }

    /** Whether a plan for a configuration is compiled when it is made, which takes the library a moment. */
    final boolean isCompiled(long configuration) {
        int[] notes = notes(engineOf(configuration), ENGINE_BEHAVIOR_NOTE, TYPE_BEHAVIOR_NOTE, BEHAVIOR_NOTE_COUNT);
        return notes == null || Arrays.stream(notes).anyMatch(note -> note == BEHAVIOR_RUNTIME_COMPILATION);
    }

    /** The engine's descriptor; 0 where the library does not say. */
    private long engineOf(long configuration) {
        long engine = create(ENGINE_DESCRIPTOR);
        out.set(ValueLayout.JAVA_LONG, 0, engine);
        return count(configuration, ENGINECFG_ENGINE, TYPE_BACKEND_DESCRIPTOR, 1, out) < 0 ? 0 : engine;
    }

    private int @Nullable [] notes(long engine, int name, int type, int most) {
        MemorySegment notes = arena.allocate(ValueLayout.JAVA_INT, most);
        long count = engine == 0 ? -1 : count(engine, name, type, most, notes);
        return count < 0
                ? null
                : notes.asSlice(0, Integer.BYTES * Math.min(most, count)).toArray(ValueLayout.JAVA_INT);
    }

    /** Asks for an attribute. @return how many values there are, −1 where the library does not say */
    private long count(long descriptor, int name, int type, long most, MemorySegment values) {
        MemorySegment count = arena.allocate(ValueLayout.JAVA_LONG);
        int status = Cudnn.cudnnBackendGetAttribute(descriptor, name, type, most, count.address(), values.address());
        return status == 0 ? count.get(ValueLayout.JAVA_LONG, 0) : -1;
    }

    /** What a configuration is, by numbers; null where the library does not say. */
    final @Nullable DnnEngine engine(long configuration) {
        MemorySegment number = arena.allocate(ValueLayout.JAVA_LONG);
        long engine = engineOf(configuration);
        MemorySegment choices = arena.allocate(ValueLayout.JAVA_LONG, KNOB_TYPE_COUNT);
        for (int i = 0; i < KNOB_TYPE_COUNT; i++) {
            choices.setAtIndex(ValueLayout.JAVA_LONG, i, create(KNOB_CHOICE_DESCRIPTOR));
        }
        long set = count(configuration, ENGINECFG_KNOB_CHOICES, TYPE_BACKEND_DESCRIPTOR, KNOB_TYPE_COUNT, choices);
        if (engine == 0 || set < 0 || count(engine, ENGINE_GLOBAL_INDEX, TYPE_INT64, 1, number) < 1) {
            return null;
        }
        Map<Integer, Long> knobs = new HashMap<>();
        MemorySegment value = arena.allocate(ValueLayout.JAVA_LONG);
        for (int i = 0; i < Math.min(set, KNOB_TYPE_COUNT); i++) {
            long choice = choices.getAtIndex(ValueLayout.JAVA_LONG, i);
            MemorySegment type = arena.allocate(ValueLayout.JAVA_INT);
            if (count(choice, KNOB_CHOICE_KNOB_TYPE, TYPE_KNOB_TYPE, 1, type) < 1
                    || count(choice, KNOB_CHOICE_KNOB_VALUE, TYPE_INT64, 1, value) < 1) {
                return null;
            }
            knobs.put(type.get(ValueLayout.JAVA_INT, 0), value.get(ValueLayout.JAVA_LONG, 0));
        }
        return new DnnEngine(number.get(ValueLayout.JAVA_LONG, 0), knobs);
    }

    /** The configuration that numbers stand for; 0 where the library has none for this graph. */
    final long configuration(long graph, DnnEngine numbers) {
        long engine = create(ENGINE_DESCRIPTOR);
        longs(engine, ENGINE_OPERATION_GRAPH, TYPE_BACKEND_DESCRIPTOR, graph);
        out.set(ValueLayout.JAVA_LONG, 0, numbers.number());
        if (Cudnn.cudnnBackendSetAttribute(engine, ENGINE_GLOBAL_INDEX, TYPE_INT64, 1, out.address()) != 0
                || Cudnn.cudnnBackendFinalize(engine) != 0) {
            return 0;
        }
        List<Long> choices = new ArrayList<>();
        for (Map.Entry<Integer, Long> knob : numbers.knobs().entrySet()) {
            long choice = create(KNOB_CHOICE_DESCRIPTOR);
            number(choice, KNOB_CHOICE_KNOB_TYPE, TYPE_KNOB_TYPE, knob.getKey());
            longs(choice, KNOB_CHOICE_KNOB_VALUE, TYPE_INT64, knob.getValue());
            if (Cudnn.cudnnBackendFinalize(choice) != 0) {
                return 0;
            }
            choices.add(choice);
        }
        long configuration = create(ENGINECFG_DESCRIPTOR);
        longs(configuration, ENGINECFG_ENGINE, TYPE_BACKEND_DESCRIPTOR, engine);
        if (!choices.isEmpty()) {
            longs(configuration, ENGINECFG_KNOB_CHOICES, TYPE_BACKEND_DESCRIPTOR, array(choices));
        }
        return Cudnn.cudnnBackendFinalize(configuration) == 0 ? configuration : 0;
    }

    /** A plan for a configuration, which the caller destroys; 0 where the library has none or wants more memory. */
    final long plan(long configuration, long workspaceBytes) {
        long plan = create(EXECUTION_PLAN_DESCRIPTOR);
        longs(plan, EXECUTION_PLAN_HANDLE, TYPE_HANDLE, handle);
        longs(plan, EXECUTION_PLAN_ENGINE_CONFIG, TYPE_BACKEND_DESCRIPTOR, configuration);
        if (Cudnn.cudnnBackendFinalize(plan) != 0 || workspaceBytes(plan) > workspaceBytes) {
            return 0;
        }
        created.remove(plan);
        return plan;
    }

    /** Bytes of memory that a plan needs; more than there is where the library does not say. */
    static long workspaceBytes(long plan) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment count = scratch.allocate(ValueLayout.JAVA_LONG);
            MemorySegment bytes = scratch.allocate(ValueLayout.JAVA_LONG);
            int status = Cudnn.cudnnBackendGetAttribute(
                    plan, EXECUTION_PLAN_WORKSPACE_SIZE, TYPE_INT64, 1, count.address(), bytes.address());
            return status == 0 ? bytes.get(ValueLayout.JAVA_LONG, 0) : Long.MAX_VALUE;
        }
    }

    final long create(int type) {
        CudnnLibrary.CHECK.check(
                Cudnn.cudnnBackendCreateDescriptor(type, out.address()), "cudnnBackendCreateDescriptor(%d)", type);
        long descriptor = out.get(ValueLayout.JAVA_LONG, 0);
        created.add(descriptor);
        return descriptor;
    }

    final void finish(long descriptor, String what) {
        int status = Cudnn.cudnnBackendFinalize(descriptor);
        if (status != 0) {
            CudnnLibrary.CHECK.check(status, "cudnnBackendFinalize(%s of %s)", what, operation);
        }
    }

    static long[] array(List<Long> values) {
        return values.stream().mapToLong(Long::longValue).toArray();
    }

    final void longs(long descriptor, int name, int type, long... values) {
        set(descriptor, name, type, values.length, arena.allocateFrom(ValueLayout.JAVA_LONG, values));
    }

    final void number(long descriptor, int name, int type, int value) {
        out.set(ValueLayout.JAVA_INT, 0, value);
        set(descriptor, name, type, 1, out);
    }

    final void real(long descriptor, int name, float value) {
        out.set(ValueLayout.JAVA_FLOAT, 0, value);
        set(descriptor, name, TYPE_FLOAT, 1, out);
    }

    private void set(long descriptor, int name, int type, long count, MemorySegment values) {
        int status = Cudnn.cudnnBackendSetAttribute(descriptor, name, type, count, values.address());
        if (status != 0) {
            CudnnLibrary.CHECK.check(status, "cudnnBackendSetAttribute(%d of %s)", name, operation);
        }
    }

    /** Destroys every descriptor but plans that were handed out. */
    @Override
    public final void close() {
        for (long descriptor : created.reversed()) {
            Cudnn.cudnnBackendDestroyDescriptor(descriptor);
        }
        arena.close();
    }
}
