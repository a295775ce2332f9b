package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.FaultModel;
import dev.tenon.cuda.testkit.FaultyGpu;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What plans hold of a device and of the host, and when they give it back. */
class PlanLifeTest {
    @BeforeAll
    static void device() {
        Harness.require();
    }

    @Test
    void evictedPlanGivesBackRecordedWorkAndUploadsAtOnce() {
        FaultModel model = FaultModel.named("dense");
        FaultyGpu gpu = new FaultyGpu(new EmulatorPlatform());
        CompileOptions one =
                CompileOptions.defaults().withExecution(Execution.graph()).withMaxPlans(1);
        try (Engine engine = Engine.open(gpu.backend(), 0, EngineOptions.defaults());
                CompiledModel compiled = engine.compile(model.graph(), Weights.none(), one);
                Session session = compiled.newSession();
                Session other = compiled.newSession()) {
            long weights = 0;
            for (int rows = 9; rows > 5; rows--) {
                for (int run = 0; run < 3; run++) {
                    model.check(session.run(model.inputs(rows)), rows);
                    model.check(other.run(model.inputs(rows)), rows);
                }
                assertThat(gpu.held()).as("one in each session").contains("ExecutableGraph=2");
                weights = weights == 0 ? engine.memory().weights() : weights;
                assertThat(engine.memory().weights()).isEqualTo(weights);
            }
        }
        assertThat(gpu.held()).isEmpty();
    }

    @Test
    void hostStepsRunOnTheThreadsOfTheirEngine() {
        FaultModel model = FaultModel.named("hosted");
        FaultyGpu gpu = new FaultyGpu(new EmulatorPlatform());
        CompileOptions one = CompileOptions.defaults().withMaxPlans(1);
        try (Engine engine =
                        Engine.open(gpu.backend(), 0, EngineOptions.defaults().withThreads(4));
                CompiledModel compiled = engine.compile(model.graph(), Weights.none(), one);
                Session session = compiled.newSession()) {
            model.check(session.run(model.inputs(3)), 3);
            assertThat(threads()).as("the caller is the fourth").hasSize(3);
        }
        threads().forEach(PlanLifeTest::awaitEnd);
    }

    @Test
    void eagerRunKeepsNothing() {
        FaultModel model = FaultModel.named("dense");
        FaultyGpu gpu = new FaultyGpu(new EmulatorPlatform());
        try (Engine engine = Engine.open(gpu.backend(), 0, EngineOptions.defaults())) {
            for (int rows = 1; rows < 4; rows++) {
                model.check(engine.eager(model.graph(), model.inputs(rows)), rows);
                assertThat(engine.memory().weights()).isZero();
                assertThat(engine.memory().activations()).isZero();
            }
        }
        assertThat(gpu.held()).isEmpty();
    }

    @Test
    void rowsOfOneTableAreUploadedWithItOnce() {
        GraphBuilder b = new GraphBuilder("positions");
        float[] numbers = new float[8 * 16];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = i;
        }
        Value table = b.constant(Tensor.of(numbers, 8, 16));
        Value four = b.input("four", TensorType.of(DType.F32, 4, 16));
        Value three = b.input("three", TensorType.of(DType.F32, 3, 16));
        b.output("first", b.add(four, b.slice(table, 0, 0, 4)));
        b.output("next", b.add(three, b.slice(table, 0, 4, 7)));
        b.output("odd", b.add(three, b.slice(table, 0, 1, 4)));
        FaultyGpu gpu = new FaultyGpu(new EmulatorPlatform());
        try (Engine engine = Engine.open(gpu.backend(), 0, EngineOptions.defaults());
                CompiledModel compiled = engine.compile(b.build());
                Session session = compiled.newSession()) {
            var results = session.run(Map.of(
                    "four", Tensor.zeros(TensorType.of(DType.F32, 4, 16)),
                    "three", Tensor.zeros(TensorType.of(DType.F32, 3, 16))));
            assertThat(results.get("first").toFloats()[63]).isEqualTo(63);
            assertThat(results.get("next").toFloats()[0]).isEqualTo(64);
            assertThat(results.get("odd").toFloats()[0]).isEqualTo(16);
            assertThat(engine.memory().weights())
                    .as("the table, and the rows that do not lie on a boundary")
                    .isEqualTo((8 + 3) * 16 * 4);
        }
        assertThat(gpu.held()).isEmpty();
    }

    private static List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("tenon-cpu-"))
                .toList();
    }

    private static void awaitEnd(Thread thread) {
        try {
            assertThat(thread.join(java.time.Duration.ofSeconds(10)))
                    .as("%s ends", thread)
                    .isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
