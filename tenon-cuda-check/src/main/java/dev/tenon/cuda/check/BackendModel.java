package dev.tenon.cuda.check;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A small model with an embedding, products, norms and a softmax, its inputs for any number of rows, and what comes out
 * by the reference. Thread-safe.
 */
public final class BackendModel {
    static final int WORDS = 17;
    private static final int WIDTH = 24;
    private static final int CLASSES = 5;

    private final Graph graph = GraphBuilder.build("backend", g -> {
        Random random = new Random(5);
        Value ids = g.input("ids", DType.I64, Dim.named("rows"));
        Value scale = g.input("scale", DType.F32);
        Value words = weight(g, random, WORDS, WIDTH);
        Value x = named(g, "words", words, ids);
        Value h = g.unary(UnaryFn.GELU, g.add(g.matmul(x, weight(g, random, WIDTH, WIDTH)), weight(g, random, WIDTH)));
        Value n = g.layerNorm(g.add(h, x), weight(g, random, WIDTH), weight(g, random, WIDTH), 1e-5);
        Value scores = g.mul(g.matmul(n, weight(g, random, WIDTH, CLASSES)), scale);
        g.output("p", g.softmax(scores, 1));
    });

    private final Map<Long, double[]> expected = new ConcurrentHashMap<>();

    public BackendModel() {}

    private static Value named(GraphBuilder g, String name, Value words, Value ids) {
        return g.add(name, new Gather(0), List.of(words, ids)).getFirst();
    }

    private static Value weight(GraphBuilder g, Random random, long... sizes) {
        return g.constant(CaseArrays.filled(DType.F32, () -> random.nextGaussian() / 2, sizes)
                .toConstant());
    }

    public Graph graph() {
        return graph;
    }

    /** Inputs for so many rows; another run has others. */
    public Map<String, Tensor> inputs(long rows, int run) {
        long[] ids = new Random(rows * 1000 + run).longs(rows, -WORDS, WORDS).toArray();
        return Map.of("ids", Tensor.of(ids, rows), "scale", Tensor.of(new float[] {1 + run % 3}));
    }

    /** Compares what came out for {@link #inputs} of the same arguments. @throws AssertionError */
    public void check(Map<String, Tensor> outputs, long rows, int run) {
        double[] wanted = expected.computeIfAbsent(rows * 1000 + run, key -> reference(rows, run));
        Tensor actual = Objects.requireNonNull(outputs.get("p"));
        Tolerance tolerance = Tolerance.of(DType.F32, 4 * WIDTH);
        for (int i = 0; i < wanted.length; i++) {
            double value = actual.getDouble(i);
            if (!tolerance.accepts(wanted[i], value)) {
                throw new AssertionError("rows " + rows + ", run " + run + ": element " + i + " is " + value
                        + "; expected " + wanted[i]);
            }
        }
    }

    private double[] reference(long rows, int run) {
        Map<String, Tensor> inputs = inputs(rows, run);
        Tensor ids = Objects.requireNonNull(inputs.get("ids"));
        NdArray scale = NdArray.of(
                TensorType.of(DType.F32),
                Objects.requireNonNull(inputs.get("scale")).getDouble(0));
        NdArray p = Interpreter.run(graph, Map.of("ids", NdArray.read(ids.type(), ids.segment()), "scale", scale))
                .get("p");
        return Objects.requireNonNull(p).toDoubles();
    }
}
