package dev.tenon.cuda.check;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.options.Precision;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.Consumer;

/**
 * What a backend promises beside right kernels: memory, streams, recorded work, faults. Each check opens what it needs
 * and throws an AssertionError.
 */
public final class BackendChecks {
    /**
     * One promise.
     *
     * @param name in words
     * @param check takes the backend's name
     */
    public record Check(String name, Consumer<String> check) {}

    static final CompileOptions STRICT = CompileOptions.defaults().withPrecision(Precision.STRICT);

    /** One stream and several, enqueued and recorded. */
    static final List<Execution> EXECUTIONS = List.of(
            Execution.stream(),
            Execution.graph(),
            Execution.multiStream(3),
            Execution.multiStream(2).asGraph());

    private BackendChecks() {}

    public static List<Check> all() {
        return List.of(
                new Check("every execution gives the reference's results", BackendChecks::bothExecutions),
                new Check(
                        "a sum and its norm are one step, also where another node reads the sum",
                        BackendChecks::normsOfSums),
                new Check("a small encoder is one resident launch", EncoderChecks::resident),
                new Check("CG-02: replays see this run's inputs, and shapes change", BackendChecks::replays),
                new Check(
                        "an index out of range is a DataException, and the session goes on", BackendChecks::outOfRange),
                new Check("integers without a result are a DataException that says why", BackendChecks::noInteger),
                new Check("the run of an interrupted thread is whole", BackendChecks::interrupted),
                new Check("tensors stay on the device from run to run", BackendChecks::staying),
                new Check("inputs on the device of any size reach a recorded plan", BackendChecks::inputsOnDevice),
                new Check("OM-01: out of memory is an exception, and nothing is lost", MemoryChecks::outOfMemory),
                new Check("the cap is held and named", MemoryChecks::cap),
                new Check("JV-01: inputs may go as soon as a call has returned", InputLifetimeChecks::run),
                new Check("JV-03: closing twice, early and from elsewhere", BackendChecks::closing),
                new Check("memory reports agree with what was given back", BackendChecks::reports),
                new Check("copies out of range are refused, and nothing is copied", MemoryChecks::ranges),
                new Check("recorded work of evicted plans is let go", MemoryChecks::evicted),
                new Check("memory reports agree with the driver", MemoryChecks::driverAgrees));
    }

    static Engine open(String backend) {
        return Engine.open(Target.parse(backend));
    }

    private static void bothExecutions(String backend) {
        BackendModel model = new BackendModel();
        try (Engine runtime = open(backend)) {
            for (Execution execution : EXECUTIONS) {
                try (CompiledModel compiled =
                                runtime.compile(model.graph(), Weights.none(), STRICT.withExecution(execution));
                        Session session = compiled.newSession()) {
                    for (int run = 0; run < 3; run++) {
                        for (long rows : new long[] {1, 5, 33}) {
                            model.check(session.run(model.inputs(rows, run)), rows, run);
                        }
                    }
                }
            }
        }
    }

    private static void normsOfSums(String backend) {
        TensorType rows = TensorType.of(DType.F32, 5, 67);
        Graph graph = GraphBuilder.build("norms", g -> {
            Value x = g.input("x", rows);
            Value row = g.input("row", TensorType.of(DType.F32, 67));
            Value first = g.layerNorm(
                    g.add(x, g.transpose(g.input("r", TensorType.of(DType.F32, 67, 5)), 1, 0)), row, row, 1e-5);
            Value sum = g.add(first, x);
            g.output("y", g.add(new RmsNorm(1, 1e-5, true), sum, row));
            g.output("total", g.add(new Reduce(ReduceFn.SUM, List.of(1), false), sum));
        });
        Random random = new Random(3);
        Map<String, NdArray> given = new HashMap<>();
        Map<String, Tensor> inputs = new HashMap<>();
        for (Value input : graph.inputs()) {
            NdArray array = CaseArrays.normal(random, DType.F32, input.shape().sizes());
            given.put(input.name(), array);
            inputs.put(
                    input.name(),
                    Tensor.of(DType.F32, array.toDoubles(), input.shape().sizes()));
        }
        Map<String, NdArray> expected = Interpreter.run(graph, given);
        try (Engine runtime = open(backend);
                CompiledModel compiled = runtime.compile(graph, Weights.none(), STRICT);
                Session session = compiled.newSession()) {
            Map<String, Tensor> results = session.run(inputs);
            expected.forEach((name, wanted) -> {
                Tensor actual = Objects.requireNonNull(results.get(name));
                Tolerance.of(DType.F32, 67).check(name, wanted, NdArray.read(actual.type(), actual.segment()));
            });
            List<String> steps = compiled.report().plans().getFirst().steps().stream()
                    .map(StepReport::op)
                    .toList();
            require(
                    steps.equals(List.of("transpose", "residual_norm", "residual_norm", "reduce")),
                    "the steps are " + steps);
        }
    }

    private static void replays(String backend) {
        Graph graph = GraphBuilder.build("line", g -> {
            var x = g.input("x", DType.F32, Dim.named("n"));
            var s = g.input("s", DType.F32);
            g.output("y", g.add(g.mul(x, s), g.scalar(DType.F32, 1)));
        });
        CompileOptions options = STRICT.withExecution(Execution.graph());
        try (Engine runtime = open(backend);
                CompiledModel compiled = runtime.compile(graph, Weights.none(), options);
                Session session = compiled.newSession()) {
            Tensor first = line(session, 2, 1, 2, 3);
            expect(first, 3, 5, 7);
            Tensor second = line(session, 2, 10, 20, 30);
            expect(second, 21, 41, 61);
            expect(line(session, 5, 10, 20, 30), 51, 101, 151);
            expect(line(session, 2, 1, 2, 3, 4), 3, 5, 7, 9);
            expect(line(session, 2, 1, 2, 3), 3, 5, 7);
            expect(line(session, 2, 4, 3, 2, 1), 9, 7, 5, 3);
            expect(first, 3, 5, 7);
            expect(second, 21, 41, 61);
        }
    }

    private static Tensor line(Session session, float s, float... x) {
        Map<String, Tensor> outputs = session.run(Map.of("x", Tensor.of(x, x.length), "s", Tensor.of(new float[] {s})));
        return Objects.requireNonNull(outputs.get("y"));
    }

    private static void outOfRange(String backend) {
        BackendModel model = new BackendModel();
        try (Engine runtime = open(backend)) {
            for (Execution execution : EXECUTIONS) {
                try (CompiledModel compiled =
                                runtime.compile(model.graph(), Weights.none(), STRICT.withExecution(execution));
                        Session session = compiled.newSession()) {
                    for (int run = 0; run < 3; run++) {
                        Map<String, Tensor> bad =
                                Map.of("ids", Tensor.of(new long[] {1, BackendModel.WORDS, 0}, 3), "scale", one());
                        TenonException error = thrown(DataException.class, () -> session.run(bad));
                        require(
                                error.toString().contains("index " + BackendModel.WORDS + " is out of range for axis 0")
                                        && error.toString().contains("words"),
                                "names index and node: " + error);
                        model.check(session.run(model.inputs(3, run)), 3, run);
                    }
                }
            }
        }
    }

    private static void noInteger(String backend) {
        Graph graph = GraphBuilder.build("integers", g -> {
            var x = g.input("x", DType.I64, Dim.of(2));
            var y = g.input("y", DType.I64, Dim.of(2));
            g.output("y", g.add(g.binary(BinaryFn.POW, x, y), g.div(x, y)));
        });
        Tensor x = Tensor.of(new long[] {0, 9}, 2);
        try (Engine runtime = open(backend);
                CompiledModel compiled = runtime.compile(graph);
                Session session = compiled.newSession()) {
            TenonException zero = thrown(
                    DataException.class, () -> session.run(Map.of("x", x, "y", Tensor.of(new long[] {1, 0}, 2))));
            require(zero.toString().contains("division of an integer by zero"), "says why: " + zero);
            TenonException power = thrown(
                    DataException.class, () -> session.run(Map.of("x", x, "y", Tensor.of(new long[] {-2, 1}, 2))));
            require(power.toString().contains("0 to the power of -2"), "says why: " + power);
            require(
                    Arrays.equals(
                            output(session.run(Map.of("x", x, "y", Tensor.of(new long[] {2, 2}, 2))))
                                    .toLongs(),
                            new long[] {0, 85}),
                    "the session goes on");
        }
    }

    private static void interrupted(String backend) {
        BackendModel model = new BackendModel();
        try (Engine runtime = open(backend)) {
            for (Execution execution : EXECUTIONS) {
                try (CompiledModel compiled =
                                runtime.compile(model.graph(), Weights.none(), STRICT.withExecution(execution));
                        Session session = compiled.newSession()) {
                    model.check(session.run(model.inputs(33, 0)), 33, 0);
                    for (int run = 0; run < 3; run++) {
                        Thread.currentThread().interrupt();
                        Map<String, Tensor> outputs = session.run(model.inputs(33, run));
                        require(Thread.interrupted(), "the thread is told of the interrupt after the run");
                        model.check(outputs, 33, run);
                    }
                }
            }
        }
    }

    private static Tensor one() {
        return Tensor.of(new float[] {1});
    }

    private static void staying(String backend) {
        Graph graph = GraphBuilder.build("half", g -> {
            var x = g.input("x", DType.F32, Dim.named("n"));
            g.output("y", g.mul(x, g.scalar(DType.F32, 0.5)));
        });
        try (Engine runtime = open(backend)) {
            Tensor kept;
            long before = runtime.memory().total();
            try (CompiledModel compiled = runtime.compile(graph, Weights.none(), STRICT)) {
                Session session = compiled.newSession();
                Tensor x = runtime.upload(Tensor.of(new float[] {8, 16, 24}, 3));
                require(x.resident() != null, "an uploaded tensor lies on the device");
                Tensor y = output(session.runOnDevice(Map.of("x", x)));
                require(y.resident() != null, "a result stays on the device");
                x.close();
                kept = output(session.runOnDevice(Map.of("x", y)));
                expect(y, 4, 8, 12);
                y.close();
                y.close();
                expect(y, 4, 8, 12);
                Tensor gone = output(session.runOnDevice(Map.of("x", kept)));
                gone.close();
                thrown(ClosedException.class, gone::segment);
                thrown(ClosedException.class, () -> session.run(Map.of("x", gone)));
                expect(output(session.run(Map.of("x", kept))), 1, 2, 3);
                session.close();
            }
            expect(kept, 2, 4, 6);
            kept.close();
            require(runtime.memory().total() == before, "all given back: " + runtime.memory());
        }
    }

    /** Four inputs at most go in one launch, where each is small: other numbers of them, and sizes around accesses. */
    private static void inputsOnDevice(String backend) {
        CompileOptions recorded = STRICT.withExecution(Execution.graph());
        for (int inputs : new int[] {1, 3, 4, 5}) {
            Graph graph = GraphBuilder.build("sums", g -> {
                for (int i = 0; i < inputs; i++) {
                    var x = g.input("x" + i, DType.F32, Dim.named("n" + i));
                    g.output(i == 0 ? "y" : "y" + i, g.mul(x, g.scalar(DType.F32, 0.5)));
                }
            });
            try (Engine runtime = open(backend);
                    CompiledModel compiled = runtime.compile(graph, Weights.none(), recorded);
                    Session session = compiled.newSession()) {
                for (int size : new int[] {1, 3, 4, 5, 1031, 1 << 15}) {
                    for (int run = 0; run < 3; run++) {
                        Map<String, Tensor> given = new LinkedHashMap<>();
                        for (int i = 0; i < inputs; i++) {
                            float[] values = new float[size + i];
                            Arrays.fill(values, 2 * (i + run));
                            values[size + i - 1] = 2 * size;
                            given.put("x" + i, runtime.upload(Tensor.of(values, size + i)));
                        }
                        Map<String, Tensor> outputs = session.run(given);
                        for (int i = 0; i < inputs; i++) {
                            float[] expected = new float[size + i];
                            Arrays.fill(expected, i + run);
                            expected[size + i - 1] = size;
                            Tensor y = Objects.requireNonNull(outputs.get(i == 0 ? "y" : "y" + i));
                            require(Arrays.equals(y.toFloats(), expected), "input " + i + " of " + inputs + ": " + y);
                        }
                        given.values().forEach(Tensor::close);
                    }
                }
            }
        }
    }

    private static Tensor output(Map<String, Tensor> outputs) {
        return Objects.requireNonNull(outputs.get("y"));
    }

    private static void closing(String backend) {
        BackendModel model = new BackendModel();
        Engine runtime = open(backend);
        CompiledModel compiled = runtime.compile(model.graph(), Weights.none(), STRICT);
        Session session = compiled.newSession();
        Map<String, Tensor> outputs = session.run(model.inputs(5, 0));
        Session busy = compiled.newSession();
        Throwable[] failure = new Throwable[1];
        Thread runner = Thread.ofVirtual().start(() -> {
            try {
                for (int run = 0; ; run++) {
                    model.check(busy.run(model.inputs(5, run)), 5, run);
                }
            } catch (Throwable e) { // what ended it is looked at below
                failure[0] = e;
            }
        });
        session.close();
        session.close();
        thrown(ClosedException.class, () -> session.run(model.inputs(5, 0)));
        model.check(outputs, 5, 0);
        runtime.close();
        runtime.close();
        compiled.close();
        try {
            runner.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        require(failure[0] instanceof ClosedException, "a run after close says so: " + failure[0]);
        model.check(outputs, 5, 0);
    }

    private static void reports(String backend) {
        BackendModel model = new BackendModel();
        try (Engine runtime = open(backend)) {
            require(runtime.memory().total() == 0, "nothing is held at first: " + runtime.memory());
            try (CompiledModel compiled = runtime.compile(model.graph(), Weights.none(), STRICT)) {
                try (Session session = compiled.newSession()) {
                    model.check(session.run(model.inputs(33, 0)), 33, 0);
                    require(session.bytes() > 0, "a session holds memory after a run");
                    require(
                            runtime.memory().weights() + session.bytes()
                                    == runtime.memory().total(),
                            "the parts make the sum: " + runtime.memory() + " and " + session.bytes());
                }
                require(runtime.memory().activations() == 0, "a closed session holds nothing: " + runtime.memory());
                require(runtime.memory().weights() > 0, "the model holds its weights: " + runtime.memory());
            }
            require(runtime.memory().total() == 0, "a closed model holds nothing: " + runtime.memory());
        }
    }

    private static void expect(Tensor actual, float... expected) {
        require(Arrays.equals(actual.toFloats(), expected), actual + "; expected " + Arrays.toString(expected));
    }

    static void require(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    static <E extends TenonException> TenonException thrown(Class<E> type, Runnable action) {
        try {
            action.run();
        } catch (TenonException e) {
            if (type.isInstance(e)) {
                return e;
            }
            throw new AssertionError("expected " + type.getSimpleName(), e);
        }
        throw new AssertionError("expected " + type.getSimpleName() + ", nothing was thrown");
    }
}
