package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.testkit.FaultyGpu;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Work that is recorded for the places of inputs and results, where these come back to the same ones. */
class BoundRunsTest {
    private static final int COLUMNS = 300;
    private static final int INDICES = 5;

    /** Rows of x, doubled, by index; and their sums with y. */
    private static final Graph GRAPH = GraphBuilder.build("bound", g -> {
        Value x = g.input("x", DType.F32, Dim.of(INDICES), Dim.of(COLUMNS));
        Value at = g.input("at", DType.I64, Dim.of(INDICES));
        Value rows = g.gather(g.mul(x, g.scalar(DType.F32, 2)), at, 0);
        g.output("rows", rows);
        g.output("sums", g.softmax(g.add(rows, x), 1));
    });

    private FaultyGpu gpu;
    private Engine engine;
    private CompiledModel model;
    private Session session;

    @BeforeAll
    static void device() {
        Harness.require();
    }

    @BeforeEach
    void open() {
        gpu = new FaultyGpu(new EmulatorPlatform());
        engine = Engine.open(gpu.backend(), 0, EngineOptions.defaults());
        model = engine.compile(GRAPH, Weights.none(), CompileOptions.defaults().withExecution(Execution.graph()));
        session = model.newSession();
    }

    @AfterEach
    void close() {
        session.close();
        model.close();
        engine.close();
        assertThat(gpu.held()).isEmpty();
    }

    private static Map<String, Tensor> inputs(float first) {
        float[] x = new float[INDICES * COLUMNS];
        for (int i = 0; i < x.length; i++) {
            x[i] = first + i % COLUMNS / 64f;
        }
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        inputs.put("x", Tensor.of(x, INDICES, COLUMNS));
        inputs.put("at", Tensor.of(new long[] {4, 0, 3, 1, 2}, INDICES));
        return inputs;
    }

    private Map<String, Tensor> uploaded(float first) {
        Map<String, Tensor> there = new LinkedHashMap<>();
        inputs(first).forEach((name, tensor) -> there.put(name, engine.upload(tensor)));
        return there;
    }

    private static void check(Map<String, Tensor> results, float first) {
        float[] rows = floats(results.get("rows"));
        float[] sums = floats(results.get("sums"));
        double total = 0;
        for (int i = 0; i < COLUMNS; i++) {
            assertThat(rows[i]).isEqualTo(2 * (first + i / 64f));
            total += sums[i];
        }
        assertThat(rows.length).isEqualTo(INDICES * COLUMNS);
        assertThat(total).isCloseTo(1, within(1e-5));
    }

    private static float[] floats(Tensor tensor) {
        return tensor.segment().toArray(ValueLayout.JAVA_FLOAT);
    }

    private static void close(Map<String, Tensor> tensors) {
        tensors.values().forEach(Tensor::close);
    }

    /** Calls of the platform that enqueue something. */
    private Map<String, Integer> calls(Runnable run) {
        gpu.points().arm(0);
        run.run();
        Map<String, Integer> kinds = gpu.points().kinds();
        kinds.keySet().removeIf(call -> !call.startsWith("GpuStream."));
        return kinds;
    }

    @Test
    void inputsAndResultsOnTheDeviceAreNotCopied() {
        Map<String, Tensor> inputs = uploaded(1);
        for (int run = 0; run < 6; run++) { // both results change places from run to run
            close(session.runOnDevice(inputs));
        }
        List<Map<String, Tensor>> results = new ArrayList<>();
        assertThat(calls(() -> results.add(session.runOnDevice(inputs)))).isEqualTo(Map.of("GpuStream.launch", 1));
        check(results.getFirst(), 1);
        close(results.getFirst());
        assertThat(floats(inputs.get("x"))[1]).as("inputs stay as they are").isEqualTo(1 + 1 / 64f);
        close(inputs);
    }

    @Test
    void inputsAndResultsOnTheHostPassThroughPinnedMemoryWithinTheRecording() {
        for (int run = 0; run < 4; run++) {
            check(session.run(inputs(run)), run);
        }
        assertThat(calls(() -> check(session.run(inputs(9)), 9))).isEqualTo(Map.of("GpuStream.launch", 1));
    }

    @Test
    void otherPlacesAreReadAndWritten() {
        Map<String, Tensor> one = uploaded(1);
        Map<String, Tensor> two = uploaded(2);
        List<Map<String, Tensor>> kept = new ArrayList<>();
        for (int run = 0; run < 12; run++) {
            Map<String, Tensor> mixed = new LinkedHashMap<>(run % 4 < 2 ? one : two);
            if (run % 3 == 0) {
                mixed.put("at", inputs(0).get("at"));
            }
            float first = run % 4 < 2 ? 1 : 2;
            check(session.run(mixed), first);
            Map<String, Tensor> results = session.runOnDevice(mixed);
            check(results, first);
            kept.add(results);
            if (run % 5 == 4) {
                kept.forEach(BoundRunsTest::close);
                kept.clear();
            }
        }
        kept.forEach(BoundRunsTest::close);
        close(one);
        close(two);
    }

    @Test
    void resultsKeptWhileOthersAreMadeKeepTheirElements() {
        Map<String, Tensor> before = null;
        Map<String, Tensor> inputs = uploaded(0);
        for (int run = 0; run < 9; run++) {
            close(inputs);
            inputs = uploaded(run); // to the same memory
            Map<String, Tensor> results = session.runOnDevice(inputs);
            if (before != null) {
                check(before, run - 1);
                close(before);
            }
            before = results;
        }
        close(before);
        close(inputs);
    }

    @Test
    void graphsForPlacesThatDoNotComeBackAreGivenBackAndMadeNoMore() {
        List<Map<String, Tensor>> inputs = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            inputs.add(uploaded(i));
        }
        for (int turn = 0; turn < 3; turn++) {
            for (int i = 0; i < 7; i++) {
                for (int run = 0; run < 6; run++) {
                    Map<String, Tensor> results = session.runOnDevice(inputs.get(i));
                    check(results, i);
                    close(results);
                }
            }
            assertThat(gpu.held()).as("that with copies").contains("ExecutableGraph=1");
        }
        for (int run = 0; run < 200; run++) {
            close(session.runOnDevice(inputs.getFirst()));
        }
        assertThat(calls(() -> close(session.runOnDevice(inputs.getFirst())))).isEqualTo(Map.of("GpuStream.launch", 1));
        inputs.forEach(BoundRunsTest::close);
    }

    @Test
    void faultOfAKernelEndsTheRunAndNotTheNext() {
        Map<String, Tensor> good = uploaded(3);
        Map<String, Tensor> bad = new LinkedHashMap<>(good);
        bad.put("at", engine.upload(Tensor.of(new long[] {0, 1, 7, 2, 3}, INDICES)));
        for (int run = 0; run < 5; run++) {
            assertThatThrownBy(() -> session.runOnDevice(bad))
                    .isInstanceOf(DataException.class)
                    .hasMessageContaining("7");
            Map<String, Tensor> results = session.runOnDevice(good);
            check(results, 3);
            close(results);
        }
        close(bad);
        close(good);
    }
}
