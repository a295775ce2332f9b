package dev.tenon.cpu;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.Precision;
import dev.tenon.cpu.keys.KeyHotLoops;
import dev.tenon.cpu.loops.HotLoop;
import dev.tenon.cpu.loops.MoveLoops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Vectors;
import dev.tenon.cpu.packed.PackedHotLoops;
import dev.tenon.cpu.plan.CpuLowering;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.WorkerPool;
import dev.tenon.cpu.window.ChannelHotLoops;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A graph of one node, lowered and run as a program would, without a compiler around it. Outputs and workspace are
 * poisoned, and a write past an output is found.
 */
public final class OneNode {
    private static final long GUARD = 64;
    /** NaN in every float type, and an index out of any range. */
    private static final byte POISON = (byte) 0xFF;

    static {
        // or most of a test would be over before the vector loops are taken into use
        if (Vectors.available()) {
            MoveLoops.all().forEach(HotLoop::adopt);
            PackedHotLoops.all().forEach(HotLoop::adopt);
            KeyHotLoops.all().forEach(HotLoop::adopt);
            ChannelHotLoops.all().forEach(HotLoop::adopt);
        }
    }

    private final Op op;
    private final List<NdArray> inputs;
    private int threads = 1;
    private boolean constants;

    private OneNode(Op op, List<NdArray> inputs) {
        this.op = op;
        this.inputs = inputs;
    }

    public static OneNode of(Op op, NdArray... inputs) {
        return new OneNode(op, List.of(inputs));
    }

    public static OneNode of(Op op, List<NdArray> inputs) {
        return new OneNode(op, inputs);
    }

    public OneNode threads(int count) {
        threads = count;
        return this;
    }

    /** Gives all inputs but the first as constants of the graph. */
    public OneNode constants() {
        constants = true;
        return this;
    }

    /** The workspace of each of so many workers, for operands of those types. */
    public static long workspaceBytes(Op op, int threads, TensorType... types) {
        GraphBuilder g = new GraphBuilder("one");
        Slots slots = new Slots(Arena.global(), threads);
        List<Value> operands = new ArrayList<>();
        for (int i = 0; i < types.length; i++) {
            operands.add(g.input("x" + i, types[i]));
        }
        List<Value> results = g.add("it", op, operands);
        operands.forEach(value -> slots.put(value, MemorySegment.NULL));
        results.forEach(value -> slots.put(value, MemorySegment.NULL));
        return CpuLowering.lower(node(results), slots).workspaceBytes();
    }

    private static Node node(List<Value> results) {
        if (!(results.getFirst().origin() instanceof Value.Origin.Result(Node node, int _))) {
            throw new AssertionError("not a result");
        }
        return node;
    }

    /** What the backend gives. */
    public List<NdArray> run() {
        try (Arena arena = Arena.ofShared();
                WorkerPool pool = new WorkerPool(threads)) {
            return run(arena, pool);
        }
    }

    private List<NdArray> run(Arena arena, WorkerPool pool) {
        GraphBuilder g = new GraphBuilder("one");
        Slots slots = new Slots(arena, threads);
        List<Value> operands = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            TensorType type = inputs.get(i).type();
            MemorySegment segment = arena.allocate(type.bytes(), 64);
            inputs.get(i).write(segment);
            Value operand = constants && i > 0
                    ? g.constant("c" + i, new ConstantData.Dense(type, segment))
                    : g.input("x" + i, type);
            operands.add(operand);
            slots.put(operand, segment);
        }
        List<Value> results = g.add("it", op, operands);
        List<MemorySegment> guarded = new ArrayList<>();
        for (Value result : results) {
            MemorySegment segment = arena.allocate(result.type().bytes() + GUARD, 64);
            segment.fill(POISON);
            guarded.add(segment);
            slots.put(result, segment.asSlice(0, result.type().bytes()));
        }
        CpuStep step = CpuLowering.lower(node(results), slots);
        step.run(new CpuFrame(slots.memory(), workspace(step, arena), pool));
        List<NdArray> arrays = new ArrayList<>();
        for (int i = 0; i < results.size(); i++) {
            TensorType type = results.get(i).type();
            arrays.add(NdArray.read(type, guarded.get(i).asSlice(0, type.bytes())));
            for (long at = type.bytes(); at < guarded.get(i).byteSize(); at++) {
                if (guarded.get(i).get(Raw.I8, at) != POISON) {
                    throw new AssertionError(op + " wrote past result " + i);
                }
            }
        }
        return arrays;
    }

    private MemorySegment[] workspace(CpuStep step, Arena arena) {
        MemorySegment[] workspace = new MemorySegment[threads];
        for (int worker = 0; worker < threads; worker++) {
            workspace[worker] = arena.allocate(step.workspaceBytes(), 64).fill(POISON);
        }
        return workspace;
    }

    /** Numbers values, and makes prepared constants anew each time. */
    private static final class Slots implements CpuLoweringContext {
        private final Map<Value, Integer> numbers = new HashMap<>();
        private final List<MemorySegment> segments = new ArrayList<>();
        private final Arena arena;
        private final int threads;

        Slots(Arena arena, int threads) {
            this.arena = arena;
            this.threads = threads;
        }

        void put(Value value, MemorySegment segment) {
            numbers.put(value, segments.size());
            segments.add(segment);
        }

        MemorySegment[] memory() {
            return segments.toArray(MemorySegment[]::new);
        }

        @Override
        public int slot(Value value) {
            return Objects.requireNonNull(numbers.get(value));
        }

        @Override
        public int threads() {
            return threads;
        }

        @Override
        public Precision precision() {
            return Precision.FAST;
        }

        @Override
        public <T> T lasting(Object key, Class<T> type, Supplier<T> make) {
            return make.get();
        }

        @Override
        public MemorySegment prepared(ConstantData data, String layout, Function<ConstantData, Prepared> make) {
            Prepared form = make.apply(data);
            MemorySegment segment = arena.allocate(form.bytes(), 64);
            form.fill().accept(segment);
            return segment.asReadOnly();
        }
    }
}
