package dev.tenon.core.testkit;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.searching.NonZero;
import dev.tenon.core.tensor.Tensor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A small model of one input {@code x [rows, 4]} for fault injection, and its results by the reference. */
public final class FaultModel {
    private static final int WIDTH = 4;

    private final Graph graph;
    private final Map<Integer, Map<String, NdArray>> expected = new HashMap<>();

    private FaultModel(Graph graph) {
        this.graph = graph;
    }

    /** Every model. */
    public static List<FaultModel> all() {
        return List.of(dense(), hosted(), staged());
    }

    /** The model of that name. */
    public static FaultModel named(String name) {
        return all().stream()
                .filter(model -> model.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Kernels only, so that a GPU can record it. */
    private static FaultModel dense() {
        return new FaultModel(GraphBuilder.build("dense", g -> {
            Value h = g.add(g.matmul(input(g), weight(g, WIDTH, 3)), weight(g, 3));
            g.output("y", g.softmax(h, 1));
        }));
    }

    /** A gather by tuples of nine indices, which a GPU leaves to the CPU backend, between kernels. */
    private static FaultModel hosted() {
        return new FaultModel(GraphBuilder.build("hosted", g -> {
            Value h = g.mul(input(g), weight(g, WIDTH));
            Value deep = g.add(new Reshape(List.of(-1L, (long) WIDTH, 1L, 1L, 1L, 1L, 1L, 1L, 1L)), h);
            NdArray tuples = NdArray.zeros(TensorType.of(DType.I64, WIDTH, 9));
            for (int i = 0; i < WIDTH; i++) {
                tuples.set(9 * i + 1, (long) (WIDTH - 1 - i));
            }
            Value first = g.add(new GatherNd(0), deep, g.constant(tuples.toConstant()));
            g.output("y", g.add(g.matmul(g.add(h, first), weight(g, WIDTH, 2)), weight(g, 2)));
        }));
    }

    /** A shape that the values of the input decide about: two plans, one after the other. */
    private static FaultModel staged() {
        return new FaultModel(GraphBuilder.build("staged", g -> {
            Value x = input(g);
            Value found = g.add(new NonZero(), g.relu(g.add(x, weight(g, WIDTH))));
            Value rows = g.gather(found, g.scalar(DType.I64, 0), 0);
            g.output("y", g.matmul(g.gather(x, rows, 0), weight(g, WIDTH, 2)));
        }));
    }

    private static Value input(GraphBuilder g) {
        return g.input("x", DType.F32, Dim.named("rows"), Dim.of(WIDTH));
    }

    private static Value weight(GraphBuilder g, long... sizes) {
        NdArray array = NdArray.zeros(TensorType.of(DType.F32, sizes));
        for (int i = 0; i < array.size(); i++) {
            array.set(i, (i % 5 - 2) / 4.0);
        }
        return g.constant(array.toConstant());
    }

    /** Names the model in reports. */
    public String name() {
        return graph.name();
    }

    public Graph graph() {
        return graph;
    }

    /** Inputs of so many rows. */
    public Map<String, Tensor> inputs(int rows) {
        float[] values = new float[rows * WIDTH];
        for (int i = 0; i < values.length; i++) {
            values[i] = (i * 7 % 11 - 5) / 2f;
        }
        return Map.of("x", Tensor.of(values, rows, WIDTH));
    }

    /** Compares what came out for inputs of so many rows. @throws AssertionError */
    public void check(Map<String, Tensor> outputs, int rows) {
        Map<String, NdArray> wanted = expected.computeIfAbsent(rows, this::reference);
        wanted.forEach((name, array) -> {
            Tensor actual = Objects.requireNonNull(outputs.get(name));
            Tolerance.of(DType.F32, rows * WIDTH).check(name, array, NdArray.read(actual.type(), actual.segment()));
        });
    }

    private Map<String, NdArray> reference(int rows) {
        Map<String, NdArray> given = new HashMap<>();
        inputs(rows).forEach((name, tensor) -> given.put(name, NdArray.read(tensor.type(), tensor.segment())));
        return Interpreter.run(graph, given);
    }
}
