package dev.tenon.cli.docs;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.GraphText;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.OpCase;
import dev.tenon.core.testkit.OpCases;
import dev.tenon.cuda.check.KernelStage;
import dev.tenon.cuda.check.StepRun;
import dev.tenon.cuda.compile.CachingCompiler;
import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.emulator.EmulatorCompiler;
import dev.tenon.emulator.EmulatorDriver;
import dev.tenon.emulator.EmulatorOptions;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The main class of {@link WorkedExamplesTest}, run on the classes of the copy: its consistency tests, the cases of the
 * new operations on every device, and the graphs of the document.
 */
final class Replay {
    private static final Set<String> NEW = Set.of("log_sigmoid", "cosine_similarity", "squared_distances");

    private static final List<String> CONSISTENCY = List.of(
            "dev.tenon.core.ir.op.OpCoverageTest",
            "dev.tenon.core.ir.op.OperationListTest",
            "dev.tenon.core.ir.op.elementwise.UnaryAccuracyTest",
            "dev.tenon.cuda.kernel.CodesTest",
            "dev.tenon.cuda.kernel.KernelCatalogTest");

    /** The types of the cases that are run on the emulator; each more is one more kernel for the C++ compiler. */
    private static final Set<DType> EMULATED = Set.of(DType.F32, DType.BF16);

    private Replay() {}

    public static void main(String[] arguments) throws ReflectiveOperationException, IOException {
        for (String test : CONSISTENCY) {
            consistent(test);
        }
        boolean emulator = new EmulatorCompiler(true).unavailable().isEmpty();
        List<Target> targets = new ArrayList<>(List.of(Target.cpu()));
        if (emulator) {
            targets.add(Target.parse("emulator"));
            steps();
        } else {
            System.out.println("emulator: skipped, " + new EmulatorCompiler(true).unavailable());
        }
        List<WorkedExample.Trial> trials =
                WorkedExample.of(Files.readString(Path.of("../docs/adding-an-op.md"))).stream()
                        .flatMap(example -> example.trial().stream())
                        .toList();
        for (Target target : targets) {
            try (Engine engine = Engine.open(target)) {
                if (target.equals(Target.cpu())) {
                    cases(engine);
                }
                trials.forEach(trial -> agrees(engine, trial));
                System.out.println(target + ": " + trials.size() + " graphs");
            }
        }
        System.exit(0); // with workers alive
    }

    /** The name in the document: a function's, or an operation's. */
    private static String name(Op op) {
        return op instanceof Unary unary ? unary.fn().word() : op.mnemonic();
    }

    private static List<OpCase> newCases() {
        return OpCases.all().stream()
                .filter(one -> NEW.contains(name(one.op())))
                .toList();
    }

    private static void consistent(String test) throws ReflectiveOperationException {
        Class<?> type = Class.forName(test);
        var constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        Object instance = constructor.newInstance();
        for (Method method : type.getDeclaredMethods()) {
            method.setAccessible(true);
            if (method.isAnnotationPresent(Test.class)) {
                call(method, instance);
            } else if (Arrays.equals(method.getParameterTypes(), new Class<?>[] {OpCase.class})) {
                for (OpCase one : newCases()) {
                    call(method, instance, one);
                }
            }
        }
    }

    private static void call(Method method, Object instance, Object... arguments) throws ReflectiveOperationException {
        try {
            method.invoke(instance, arguments);
        } catch (InvocationTargetException e) {
            throw new AssertionError(method + " fails on the copy: " + e.getCause(), e);
        }
    }

    /** The cases of the new primitives by their kernels: a step on the host in the place of one would be refused. */
    private static void steps() {
        EmulatorDriver driver = new EmulatorDriver(EmulatorOptions.of(Map.of()).withWorkers(2));
        int ran = 0;
        try (GpuContext context = driver.open(0);
                KernelStage stage = new KernelStage(
                        context,
                        new CachingCompiler(new EmulatorCompiler(true), KernelCache.standard(), driver::version))) {
            StepRun run = StepRun.withoutLibraries(stage);
            for (OpCase one : newCases()) {
                if (one.op() instanceof Primitive
                        && EMULATED.contains(one.inputs().getFirst().dtype())) {
                    try {
                        one.verify(run.run(one.op(), one.inputs()).outputs());
                    } catch (UnsupportedException e) {
                        throw new AssertionError(one.name() + ": has no kernel", e);
                    }
                    stage.release();
                    ran++;
                }
            }
        }
        System.out.println("emulator: " + ran + " cases");
    }

    private static void cases(Engine engine) {
        Map<String, Integer> ran = new LinkedHashMap<>();
        for (OpCase one : newCases()) {
            Graph graph = GraphBuilder.build("case", g -> {
                List<Value> operands = new ArrayList<>();
                one.inputs().forEach(input -> operands.add(g.input("x" + operands.size(), input.type())));
                g.output("y", g.add("it", one.op(), operands).getFirst());
            });
            List<Tensor> inputs = new ArrayList<>();
            for (NdArray input : one.inputs()) {
                Tensor tensor = Tensor.zeros(input.type());
                input.write(tensor.segment());
                inputs.add(tensor);
            }
            Tensor y = run(engine, graph, inputs);
            one.verify(List.of(NdArray.read(y.type(), y.segment())));
            ran.merge(name(one.op()), 1, Integer::sum);
        }
        ran.forEach((name, count) -> System.out.println(name + ": " + count + " cases"));
    }

    private static void agrees(Engine engine, WorkedExample.Trial trial) {
        Map<String, double[]> stated = new LinkedHashMap<>();
        for (String line : trial.values()) {
            String[] sides = line.split(" = ", 2);
            stated.put(
                    sides[0],
                    Arrays.stream(sides[1].split(" "))
                            .mapToDouble(Double::parseDouble)
                            .toArray());
        }
        Graph graph = GraphText.parse(trial.graph());
        List<Tensor> inputs = new ArrayList<>();
        for (Value input : graph.inputs()) {
            TensorType type = input.type();
            inputs.add(Tensor.of(
                    type.dtype(), stated.get(input.name()), type.shape().sizes()));
        }
        double[] actual = run(engine, graph, inputs).toDoubles();
        double[] expected = stated.get("y");
        for (int i = 0; i < expected.length; i++) {
            if (!(Math.abs(actual[i] - expected[i]) <= 1e-6 * Math.max(1e-30, Math.abs(expected[i])))) {
                throw new AssertionError(trial.graph() + " gives " + Arrays.toString(actual) + "; the document says "
                        + Arrays.toString(expected));
            }
        }
    }

    private static Tensor run(Engine engine, Graph graph, List<Tensor> inputs) {
        Map<String, Tensor> given = new LinkedHashMap<>();
        for (int i = 0; i < inputs.size(); i++) {
            given.put(graph.inputs().get(i).name(), inputs.get(i));
        }
        try (CompiledModel model = engine.compile(graph);
                Session session = model.newSession()) {
            return session.run(given).values().iterator().next();
        }
    }
}
