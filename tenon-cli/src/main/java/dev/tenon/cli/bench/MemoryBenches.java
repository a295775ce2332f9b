package dev.tenon.cli.bench;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.CumulativeFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Copy;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/**
 * An operation or two that memory bounds, past the caches of a processor.
 *
 * @param graph reads x and leaves y
 */
record MemoryBenches(String name, TensorType x, Graph graph) {
    private static final double EPSILON = 1e-5;

    /** A copy of so many bytes. */
    static MemoryBenches copy(long bytes) {
        return one("copy", TensorType.of(DType.F32, bytes / 4), new Copy());
    }

    static List<MemoryBenches> all() {
        List<MemoryBenches> all = new ArrayList<>();
        for (long[] size : new long[][] {
            {16_777_216, 2},
            {1_048_576, 32},
            {65_536, 512},
            {4096, 8192}
        }) {
            all.add(one("softmax of columns", f32(size), new Softmax(0)));
        }
        all.add(one("softmax of columns", f32(8, 21, 65_536), new Softmax(1)));
        all.add(one("softmax of columns", f32(1, 3, 1080, 1920), new Softmax(1)));
        all.add(one("log-softmax of columns", f32(4096, 8192), new LogSoftmax(0)));
        for (long[] size : new long[][] {
            {65_536, 512},
            {8, 21, 65_536}
        }) {
            int axis = size.length - 2;
            all.add(one("argmax of columns", f32(size), new ArgReduce(true, axis, false, false)));
            all.add(one("cumsum along columns", f32(size), new Cumulative(CumulativeFn.SUM, axis, false, false)));
            all.add(one("top-3 of columns", f32(size), new TopK(3, axis, true, true)));
        }
        all.addAll(rows());
        all.addAll(reductions());
        all.addAll(transposes());
        all.addAll(regions());
        return all;
    }

    private static List<MemoryBenches> rows() {
        List<MemoryBenches> all = new ArrayList<>();
        for (long[] size : new long[][] {
            {65_536, 1024},
            {1024, 32_768},
            {64, 1_000_003},
            {1, 16_777_216}
        }) {
            all.add(one("softmax of rows", f32(size), new Softmax(1)));
        }
        all.add(one("log-softmax of rows", f32(1, 16_777_216), new LogSoftmax(1)));
        for (long[] size : new long[][] {
            {65_536, 256},
            {1, 16_777_216}
        }) {
            // without parameters, which of a long row are as large as x
            all.add(one("layer norm", f32(size), new LayerNorm(1, EPSILON, false, false)));
            all.add(one("rms norm", f32(size), new RmsNorm(1, EPSILON, false)));
        }
        return all;
    }

    private static List<MemoryBenches> reductions() {
        List<MemoryBenches> all = new ArrayList<>();
        for (ReduceFn fn : List.of(ReduceFn.SUM, ReduceFn.MAX, ReduceFn.LOG_SUM_EXP)) {
            all.add(one(fn + " of rows", f32(65_536, 256), new Reduce(fn, List.of(1), false)));
            all.add(one(fn + " of rows", f32(1, 16_777_216), new Reduce(fn, List.of(1), false)));
            for (long[] size : new long[][] {
                {16_777_216, 2},
                {1_048_576, 32},
                {65_536, 512},
                {4096, 8192}
            }) {
                all.add(one(fn + " of columns", f32(size), new Reduce(fn, List.of(0), false)));
            }
        }
        for (DType dtype : List.of(DType.F32, DType.F16, DType.I8, DType.I32, DType.I64)) {
            for (long[] size : new long[][] {
                {65_536, 1024 / dtype.bytes()},
                {1, (64 << 20) / dtype.bytes()}
            }) {
                TensorType x = TensorType.of(dtype, size);
                all.add(one("argmax of rows", x, new ArgReduce(true, 1, false, false)));
                all.add(one("top-3 of rows", x, new TopK(3, 1, true, true)));
            }
            if (dtype != DType.F32) {
                TensorType x = TensorType.of(dtype, 65_536, 2048 / dtype.bytes());
                all.add(one("argmax of columns", x, new ArgReduce(true, 0, false, false)));
                all.add(one("top-3 of columns", x, new TopK(3, 0, true, true)));
            }
        }
        return all;
    }

    private static List<MemoryBenches> transposes() {
        List<MemoryBenches> all = new ArrayList<>();
        for (DType dtype : List.of(DType.F32, DType.F64, DType.F16, DType.I8)) {
            all.add(transpose(TensorType.of(dtype, 4096, 4096 * 4 / dtype.bytes()), 1, 0));
        }
        all.add(transpose(f32(5000, 3001), 1, 0));
        all.add(transpose(f32(8, 64, 32_768), 0, 2, 1));
        all.add(transpose(f32(8, 32_768, 64), 0, 2, 1));
        all.add(transpose(f32(8, 3, 524_288), 0, 2, 1));
        all.add(transpose(f32(8, 524_288, 3), 0, 2, 1));
        all.add(transpose(TensorType.of(DType.U8, 32, 524_288, 3), 0, 2, 1));
        all.add(transpose(f32(32, 256, 32, 64), 0, 2, 1, 3));
        all.add(transpose(f32(16, 64, 112, 112), 0, 2, 3, 1));
        all.add(transpose(f32(16, 112, 112, 64), 0, 3, 1, 2));
        return all;
    }

    private static List<MemoryBenches> regions() {
        TensorType x = f32(65_536, 256);
        Tensor bias = random(256);
        return List.of(
                of("relu", x, (g, v) -> g.relu(v)),
                of("gelu", x, (g, v) -> g.gelu(v)),
                of("sigmoid", x, (g, v) -> g.sigmoid(v)),
                of("tanh", x, (g, v) -> g.tanh(v)),
                of("bias, relu", x, (g, v) -> g.relu(g.add(v, g.constant(bias)))),
                of("bias, gelu", x, (g, v) -> g.gelu(g.add(v, g.constant(bias)))),
                of("twice, add, multiply", x, (g, v) -> g.mul(v, g.add(g.mul(v, v), v))),
                one("cast to f16", x, new Cast(DType.F16, true)),
                one("cast from f16", TensorType.of(DType.F16, 65_536, 256), new Cast(DType.F32, true)));
    }

    private static MemoryBenches transpose(TensorType x, Integer... permutation) {
        return one("transpose " + Arrays.toString(permutation), x, new Transpose(List.of(permutation)));
    }

    private static MemoryBenches one(String name, TensorType x, Op op) {
        return of(name, x, (g, v) -> g.add("y", op, List.of(v)).getFirst());
    }

    private static MemoryBenches of(String name, TensorType x, BiFunction<GraphBuilder, Value, Value> body) {
        Graph graph = GraphBuilder.build("bench", g -> g.output("y", body.apply(g, g.input("x", x))));
        String sizes = Arrays.stream(x.shape().sizes()).mapToObj(Long::toString).collect(Collectors.joining("x"));
        return new MemoryBenches(name + ", " + x.dtype() + " " + sizes, x, graph);
    }

    private static TensorType f32(long... sizes) {
        return TensorType.of(DType.F32, sizes);
    }

    private static Tensor random(long count) {
        return Tensor.of(DType.F32, new Random(11).doubles(count, 0.5, 1.5).toArray(), count);
    }
}
