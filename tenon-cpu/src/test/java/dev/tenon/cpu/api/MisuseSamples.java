package dev.tenon.cpu.api;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.build.AttentionOptions;
import dev.tenon.core.build.ConvOptions;
import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.build.PoolOptions;
import dev.tenon.core.build.RecurrentInputs;
import dev.tenon.core.build.RecurrentOptions;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Copy;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.options.Numerics;
import dev.tenon.core.options.ShapePolicy;
import dev.tenon.core.options.ShapeProfile;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.report.EngineListener;
import dev.tenon.core.report.RunProfile;
import dev.tenon.core.report.StepCost;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Resident;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.NullArguments;
import dev.tenon.cpu.device.CpuBackend;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Arguments that are what a method takes, and objects to call methods on. What was opened is closed with it. */
final class MisuseSamples implements NullArguments.Samples {
    private final Graph graph;
    private final GraphBuilder builder = new GraphBuilder("samples");
    private final Value value = builder.input("value", DType.F32, 2, 3, 4);
    private final Map<Class<?>, Object> known = new HashMap<>();
    private @Nullable Engine engine;

    MisuseSamples(Graph graph) {
        this.graph = graph;
        put(String.class, "name");
        put(Value.class, value);
        put(int.class, 1);
        put(long.class, 1L);
        put(double.class, 1.0);
        put(boolean.class, false);
        put(long[].class, new long[] {1});
        put(int[].class, new int[] {0});
        put(double[].class, new double[] {1});
        put(float[].class, new float[] {1});
        put(short[].class, new short[] {1});
        put(byte[].class, new byte[] {1});
        put(boolean[].class, new boolean[] {true});
        put(DType.class, DType.F32);
        put(Dim.class, Dim.of(1));
        put(Dim.Named.class, new Dim.Named("n"));
        put(Shape.class, Shape.of(1));
        put(TensorType.class, TensorType.of(DType.F32, 1));
        put(Graph.class, graph);
        put(
                Node.class,
                GraphBuilder.build("node", g -> g.output("y", g.relu(g.input("x", DType.F32, 1))))
                        .nodes()
                        .getFirst());
        put(Op.class, new Copy());
        put(ConstantData.class, NdArray.ofLongs(1).toConstant());
        put(Tensor.class, Tensor.of(new float[] {1}, 1));
        put(MemorySegment.class, Arena.ofAuto().allocate(4));
        put(Arena.class, Arena.ofAuto());
        put(Resident.class, new Nowhere());
        put(Target.class, Target.cpu());
        put(Backend.class, new CpuBackend());
        put(EngineOptions.class, EngineOptions.defaults());
        put(EngineListener.class, EngineListener.NONE);
        put(Execution.class, Execution.stream());
        put(CompileOptions.class, CompileOptions.defaults());
        put(CompilerOptions.class, CompilerOptions.defaults());
        put(ShapeProfile.class, ShapeProfile.none());
        put(ShapePolicy.class, ShapePolicy.exact());
        put(Weights.class, Weights.none());
        put(ConvOptions.class, ConvOptions.defaults());
        put(PoolOptions.class, PoolOptions.of(1));
        put(AttentionOptions.class, AttentionOptions.defaults());
        put(RecurrentInputs.class, RecurrentInputs.of(value, value, value));
        put(RecurrentOptions.class, RecurrentOptions.defaults());
        put(DeviceInfo.class, new DeviceInfo("cpu", 0, "", "", 0));
        put(Numerics.class, CompileOptions.defaults().numerics());
        StepReport report = StepReport.of(node(), "", List.of());
        put(StepReport.class, report);
        put(StepCost.class, report.cost());
        put(RunProfile.class, new RunProfile(0, List.of(), List.of()));
        put(RunProfile.Span.class, new RunProfile.Span("", "", 0, 0));
        put(Node.class, node());
        put(Duration.class, Duration.ZERO);
        put(Runnable.class, (Runnable) () -> {});
        put(Consumer.class, (Consumer<Object>) _ -> {});
        put(BiConsumer.class, (BiConsumer<Object, Object>) (_, _) -> {});
        put(Function.class, (Function<Object, Object>) _ -> graph);
        put(Map.class, new LinkedHashMap<>());
        put(java.util.SequencedMap.class, new LinkedHashMap<>());
        put(Set.class, Set.of());
    }

    private Node node() {
        return graph.nodes().getFirst();
    }

    private void put(Class<?> type, Object sample) {
        known.put(type, sample);
    }

    @Override
    public Object of(Parameter parameter) {
        Class<?> type = parameter.getType();
        Object sample = known.get(type);
        if (sample != null) {
            return sample;
        }
        if (type == List.class) {
            String elements = parameter.getParameterizedType().getTypeName();
            return elements.contains("Value")
                    ? List.of(value)
                    : elements.contains("Dim") ? List.of(Dim.of(1)) : List.of();
        }
        if (type == Engine.class) {
            return engine();
        }
        if (type.isEnum()) {
            return type.getEnumConstants()[0];
        }
        if (type.isArray()) {
            Object array = Array.newInstance(type.getComponentType(), 1);
            Array.set(array, 0, known.get(type.getComponentType()));
            return array;
        }
        throw new AssertionError("no sample of " + parameter + " of " + parameter.getDeclaringExecutable());
    }

    @Override
    public Object receiver(Class<?> type) {
        if (type == GraphBuilder.class) {
            return builder;
        }
        if (type == Engine.class) {
            return engine();
        }
        if (type == Engine.Reopened.class) {
            return new Engine.Reopened(engine(), Map.of());
        }
        if (type == CompiledModel.class) {
            return engine().compile(graph);
        }
        if (type == Session.class) {
            return engine().compile(graph).newSession();
        }
        Object sample = known.get(type);
        if (sample == null) {
            throw new AssertionError("no object of " + type);
        }
        return sample;
    }

    private Engine engine() {
        Engine open = engine != null
                ? engine
                : Engine.open(Target.cpu(), EngineOptions.defaults().withThreads(1));
        engine = open;
        return open;
    }

    @Override
    public void close() {
        if (engine != null) {
            engine.close();
        }
    }

    /** Device memory that nobody reads. */
    private static final class Nowhere implements Resident {
        @Override
        public String device() {
            return "nowhere";
        }

        @Override
        public long version() {
            return 0;
        }

        @Override
        public void read(MemorySegment to) {}

        @Override
        public void close() {}
    }
}
