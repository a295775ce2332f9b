package dev.tenon.cpu.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.LeakWatch;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.NullArguments;
import dev.tenon.core.testkit.PublicApi;
import java.lang.foreign.Arena;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Every public method of the public API, given null for each of its arguments in turn and called on closed objects: a
 * TenonException that names the argument.
 */
class MisuseTest {
    private static final Graph GRAPH = GraphBuilder.build("misuse", g -> {
        g.output("y", g.relu(g.input("x", DType.F32, 2)));
    });

    private static List<Class<?>> api() throws Exception {
        List<Class<?>> classes = new ArrayList<>();
        for (Class<?> one :
                List.of(GraphBuilder.class, Engine.class, Tensor.class, CompileOptions.class, DeviceInfo.class)) {
            classes.addAll(PublicApi.classesBeside(one));
        }
        classes.remove(LeakWatch.class); // between our own modules
        classes.addAll(List.of(
                Graph.class,
                Shape.class,
                Dim.class,
                Dim.Named.class,
                DType.class,
                TensorType.class,
                CompilerOptions.class));
        return classes;
    }

    @TestFactory
    Stream<DynamicTest> nullArgumentIsNamed() throws Exception {
        return NullArguments.tests(api(), () -> new MisuseSamples(GRAPH));
    }

    @Test
    void theApiIsFound() throws Exception {
        assertThat(api().stream().map(Class::getSimpleName))
                .contains(
                        "GraphBuilder",
                        "Ops",
                        "ConvOptions",
                        "Engine",
                        "Session",
                        "Target",
                        "Tensor",
                        "CompileOptions");
        assertThat(PublicApi.executables(GraphBuilder.class)).hasSizeGreaterThan(120);
    }

    @Test
    void closedObjectsAreClosedExceptions() {
        Map<String, Tensor> inputs = Map.of("x", Tensor.of(new float[] {1, -1}, 2));
        Engine engine = Engine.open(Target.cpu(), EngineOptions.defaults().withThreads(1));
        CompiledModel model = engine.compile(GRAPH);
        Session closed = model.newSession();
        closed.close();
        Session ended = model.newSession();
        List<ThrowingCallable> session = List.of(
                () -> closed.run(inputs),
                () -> closed.run(inputs, List.of("y")),
                () -> closed.runInto(inputs, Map.of("y", Tensor.zeros(DType.F32, 2))),
                () -> closed.runOnDevice(inputs));
        session.forEach(MisuseTest::closed);
        model.close();
        List<ThrowingCallable> models =
                List.of(model::newSession, model::report, () -> model.plan(Map.of()), () -> ended.run(inputs));
        models.forEach(MisuseTest::closed);
        engine.close();
        List<ThrowingCallable> engines = List.of(
                () -> engine.compile(GRAPH),
                () -> engine.compile(GRAPH, CompileOptions.defaults()),
                () -> engine.compile(GRAPH, Weights.none(), CompileOptions.defaults()),
                () -> engine.upload(Tensor.zeros(DType.F32, 2)),
                () -> engine.zeros(TensorType.of(DType.F32, 2)),
                () -> engine.settle(() -> {}, java.time.Duration.ZERO));
        engines.forEach(MisuseTest::closed);
        for (AutoCloseable object : List.of(closed, model, engine)) {
            noOtherException(object);
        }
    }

    private static void closed(ThrowingCallable use) {
        assertThatThrownBy(use).isInstanceOf(ClosedException.class).hasMessageContaining("closed");
    }

    /** Methods without arguments answer, or say that the object is closed. */
    private static void noOtherException(Object object) {
        for (Method method : object.getClass().getMethods()) {
            if (method.getParameterCount() == 0 && method.getDeclaringClass() != Object.class) {
                try {
                    method.invoke(object);
                } catch (InvocationTargetException e) {
                    assertThat(e.getCause()).as(method.toString()).isInstanceOf(TenonException.class);
                } catch (IllegalAccessException e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    @Test
    void tensorOfAClosedArenaIsAClosedException() throws Exception {
        Tensor tensor;
        Arena gone;
        try (Arena arena = Arena.ofConfined()) {
            gone = arena;
            tensor = Tensor.allocate(arena, TensorType.of(DType.F32, 2));
        }
        Arena closed = gone;
        List<ThrowingCallable> uses = List.of(
                () -> tensor.getFloat(0),
                () -> tensor.getDouble(0),
                () -> tensor.getLong(0),
                tensor::toFloats,
                tensor::toDoubles,
                tensor::asFloatBuffer,
                tensor::asByteBuffer,
                tensor::hashCode,
                () -> Tensor.allocate(closed, TensorType.of(DType.F32, 2)));
        uses.forEach(MisuseTest::closed);
        assertThat(tensor.toString()).isEqualTo("f32[2] (not readable by this thread)");
    }

    @Test
    void indexOutOfRangeIsNamed() {
        Tensor tensor = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3);
        for (long index : new long[] {-1, 6}) {
            for (ThrowingCallable read : List.<ThrowingCallable>of(
                    () -> tensor.getFloat(index), () -> tensor.getDouble(index), () -> tensor.getLong(index))) {
                assertThatThrownBy(read)
                        .isInstanceOf(InputException.class)
                        .hasMessage("argument \"index\" is " + index + "; expected 0 to 5");
            }
        }
        assertThatThrownBy(() -> tensor.index(0, 3))
                .isInstanceOf(InputException.class)
                .hasMessage("argument \"position\" is 3 for axis 1 of f32[2,3]; expected -3 to 2");
    }

    @Test
    void targetsAreTheirDevices() {
        assertThat(Target.best()).isEqualTo(Target.cpu()).hasSameHashCodeAs(Target.cpu());
        assertThat(Set.of(Target.cuda(0)))
                .contains(new Target("cuda", 0, "asked for"))
                .doesNotContain(Target.cuda(1));
        assertThatThrownBy(() -> Target.cuda(-1))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("argument \"ordinal\" is -1");
    }
}
