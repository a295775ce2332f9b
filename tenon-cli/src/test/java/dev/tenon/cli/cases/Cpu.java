package dev.tenon.cli.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Runs cases through the public runtime, on the CPU backend or on the device that {@code -Dtenon.cases.device} names.
 */
final class Cpu {
    /** Past this, folding a case's inputs as constants says nothing more. */
    private static final long FOLDED = 4096;

    /** What a case computes from its inputs. */
    @FunctionalInterface
    interface Body {
        List<Value> build(GraphBuilder g, List<Value> x);
    }

    static final Target DEVICE = Target.parse(System.getProperty("tenon.cases.device", "cpu"));

    private Cpu() {}

    /** A single operation, all of its results. */
    static Body op(Op op) {
        return (g, x) -> g.addAll(op, x);
    }

    /**
     * Runs a case on one thread and on three, optimised and not, and with its inputs as constants of the graph, and
     * checks the results each time; optimised and unoptimised results agree in every bit, whatever the number of
     * threads.
     */
    static void check(Body body, List<Tensor> inputs, Consumer<List<Tensor>> expectation) {
        Graph graph = graph(body, inputs, false);
        List<Tensor> plain = run(graph, inputs, 1, false);
        expectation.accept(plain);
        sameBits("optimised, 1 thread", run(graph, inputs, 1, true), plain);
        sameBits("optimised, 3 threads", run(graph, inputs, 3, true), plain);
        if (inputs.stream().mapToLong(Tensor::elements).sum() <= FOLDED) {
            expectation.accept(run(graph(body, inputs, true), List.of(), 1, true));
        }
    }

    /** A case of one operation and one result. */
    static void check(Op op, List<Tensor> inputs, Consumer<Tensor> expectation) {
        check(op(op), inputs, results -> expectation.accept(results.getFirst()));
    }

    /** That every way to run a case fails, with one clear line that holds each of the given words. */
    static void fails(Body body, List<Tensor> inputs, Class<? extends TenonException> type, String... words) {
        for (boolean optimise : new boolean[] {true, false}) {
            assertThatThrownBy(() -> run(graph(body, inputs, false), inputs, 2, optimise))
                    .isInstanceOf(type)
                    .hasMessageContainingAll(words)
                    .message()
                    .doesNotContain("\n");
        }
        assertThatThrownBy(() -> run(graph(body, inputs, true), List.of(), 2, true))
                .as("with constants")
                .isInstanceOf(type)
                .hasMessageContainingAll(words);
    }

    /** One run, with everything on. */
    static List<Tensor> run(Body body, Tensor... inputs) {
        List<Tensor> given = List.of(inputs);
        return run(graph(body, given, false), given, 0, true);
    }

    static List<Tensor> run(Graph graph, List<Tensor> inputs, int threads, boolean optimise) {
        Map<String, Tensor> named = new LinkedHashMap<>();
        for (int i = 0; i < inputs.size(); i++) {
            named.put(graph.inputs().get(i).name(), inputs.get(i));
        }
        CompileOptions options = CompileOptions.defaults()
                .withCompiler(CompilerOptions.defaults().withOptimise(optimise));
        return List.copyOf(run(graph, named, threads, options).values());
    }

    static Map<String, Tensor> run(Graph graph, Map<String, Tensor> inputs, int threads, CompileOptions options) {
        try (Engine runtime = Engine.open(DEVICE, EngineOptions.defaults().withThreads(threads));
                CompiledModel model = runtime.compile(graph, Weights.none(), options.withPrecision(Precision.STRICT));
                Session session = model.newSession()) {
            return session.run(inputs);
        }
    }

    /** The only output of a graph. */
    static Tensor only(Graph graph, Map<String, Tensor> inputs) {
        return run(graph, inputs, 0, CompileOptions.defaults())
                .values()
                .iterator()
                .next();
    }

    static Graph graph(Body body, List<Tensor> inputs, boolean constant) {
        return GraphBuilder.build("case", g -> {
            List<Value> x = new ArrayList<>();
            for (int i = 0; i < inputs.size(); i++) {
                Tensor input = inputs.get(i);
                x.add(
                        constant
                                ? g.constant(new ConstantData.Dense(input.type(), input.segment()))
                                : g.input("x" + i, input.type()));
            }
            List<Value> results = body.build(g, x);
            for (int i = 0; i < results.size(); i++) {
                g.output("y" + i, results.get(i));
            }
        });
    }

    /** One NaN is as good as another; everything else is equal in every bit, the sign of a zero too. */
    static void sameBits(String what, List<Tensor> actual, List<Tensor> expected) {
        assertThat(actual).as(what).hasSameSizeAs(expected);
        for (int i = 0; i < actual.size(); i++) {
            sameBits(what, actual.get(i), expected.get(i));
        }
    }

    static void sameBits(String what, Tensor actual, Tensor expected) {
        assertThat(actual.type()).as(what).isEqualTo(expected.type());
        if (actual.segment().mismatch(expected.segment()) == -1) {
            return;
        }
        DType dtype = actual.dtype();
        for (long at = 0; at < actual.elements(); at++) {
            boolean nan = dtype.isFloat() && Double.isNaN(actual.getDouble(at)) && Double.isNaN(expected.getDouble(at));
            if (!nan) {
                assertThat(Elements.bits(dtype, actual.segment(), at))
                        .as("%s, element %d: %s and %s", what, at, actual, expected)
                        .isEqualTo(Elements.bits(dtype, expected.segment(), at));
            }
        }
    }

    /** Elements and shape: exactly these, NaN for NaN, zeros by sign. */
    static void exactly(Tensor actual, long[] sizes, double... values) {
        assertThat(actual.shape().sizes()).as("shape").containsExactly(sizes);
        assertThat(actual.toDoubles()).containsExactly(values);
    }

    /** Within 1e-5 of the value, or 1e-6 of zero: the table's own band for f32. */
    static void close(Tensor actual, double... values) {
        within(actual, 1e-5, 1e-6, values);
    }

    static void within(Tensor actual, double relative, double absolute, double... values) {
        double[] found = actual.toDoubles();
        assertThat(found).as("elements").hasSameSizeAs(values);
        for (int i = 0; i < values.length; i++) {
            assertThat(isWithin(found[i], values[i], relative, absolute))
                    .as("element %d of %s is %s, expected %s", i, actual, found[i], values[i])
                    .isTrue();
        }
    }

    private static boolean isWithin(double found, double wanted, double relative, double absolute) {
        return Double.compare(found, wanted) == 0
                || found == wanted
                || Math.abs(found - wanted) <= Math.max(absolute, relative * Math.abs(wanted));
    }

    /** At most one element of its type away from the nearest to each value. */
    static void oneUlp(Tensor actual, double... values) {
        assertThat(actual.elements()).isEqualTo(values.length);
        for (int i = 0; i < values.length; i++) {
            long found = Elements.bits(actual.dtype(), actual.segment(), i);
            long wanted = Elements.fromDouble(actual.dtype(), values[i]);
            assertThat(Math.abs(found - wanted))
                    .as("element %d of %s is %s, expected %s", i, actual.type(), actual.getDouble(i), values[i])
                    .isLessThanOrEqualTo(1);
        }
    }

    static Tensor f32(long[] sizes, double... values) {
        return Tensor.of(DType.F32, values, sizes);
    }

    static Tensor f32(double... values) {
        return Tensor.of(DType.F32, values, values.length);
    }

    static Tensor i32(double... values) {
        return Tensor.of(DType.I32, values, values.length);
    }

    static Tensor i64(long... values) {
        return Tensor.of(values, values.length);
    }

    static long[] sizes(long... sizes) {
        return sizes;
    }

    static Tensor filled(TensorType type, double value) {
        Tensor tensor = Tensor.zeros(type);
        for (long i = 0; i < tensor.elements(); i++) {
            Elements.setDouble(type.dtype(), tensor.segment(), i, value);
        }
        return tensor;
    }

    /** The same elements {@code shift} bytes past a multiple of 64, between bytes of 0xFF: NaN for floats. */
    static Tensor guarded(Tensor tensor, long shift) {
        MemorySegment around = Arena.ofAuto().allocate(tensor.byteSize() + 256, 64);
        around.fill((byte) -1);
        MemorySegment inside = around.asSlice(64 + shift, tensor.byteSize());
        inside.copyFrom(tensor.segment());
        return Tensor.wrap(tensor.type(), inside);
    }
}
