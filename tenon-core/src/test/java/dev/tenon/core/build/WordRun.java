package dev.tenon.core.build;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.function.IntToDoubleFunction;
import org.assertj.core.data.Offset;

/** Runs one word in a graph of its own, by the reference interpreter, and compares with a plain computation. */
final class WordRun {
    private WordRun() {}

    /** Numbers of [from, to), the same for the same sizes. */
    static NdArray between(double from, double to, long... sizes) {
        Random random = new Random(sizes.length * 31L + Shape.of(sizes).elements());
        return filled(_ -> from + (to - from) * random.nextDouble(), sizes);
    }

    static NdArray random(long... sizes) {
        return between(-2, 2, sizes);
    }

    static NdArray filled(IntToDoubleFunction value, long... sizes) {
        NdArray array = NdArray.zeros(DType.F64, sizes);
        for (int i = 0; i < array.size(); i++) {
            array.set(i, value.applyAsDouble(i));
        }
        return array;
    }

    static NdArray of(long[] sizes, double... values) {
        return NdArray.of(TensorType.of(DType.F64, sizes), values);
    }

    static NdArray longs(long[] sizes, long... values) {
        return NdArray.of(TensorType.of(DType.I64, sizes), values);
    }

    static NdArray booleans(long[] sizes, long... values) {
        return NdArray.of(TensorType.of(DType.BOOL, sizes), values);
    }

    static long[] sizes(long... sizes) {
        return sizes;
    }

    /** The results of the words that {@code word} says on values for the inputs. */
    static List<NdArray> all(BiFunction<GraphBuilder, List<Value>, List<Value>> word, NdArray... inputs) {
        Map<String, NdArray> given = new LinkedHashMap<>();
        int[] count = new int[1];
        Graph graph = GraphBuilder.build("word", g -> {
            List<Value> values = new ArrayList<>();
            for (NdArray input : inputs) {
                String name = "x" + values.size();
                values.add(g.input(name, input.type()));
                given.put(name, input);
            }
            for (Value result : word.apply(g, values)) {
                g.output("y" + count[0]++, result);
            }
        });
        return List.copyOf(Interpreter.run(graph, given).values());
    }

    static NdArray run(BiFunction<GraphBuilder, List<Value>, Value> word, NdArray... inputs) {
        return all((g, x) -> List.of(word.apply(g, x)), inputs).getFirst();
    }

    /** That the result has those sizes and those elements, within 1e-12 of each. */
    static void check(NdArray result, long[] sizes, IntToDoubleFunction expected) {
        assertThat(result.shape()).isEqualTo(Shape.of(sizes));
        for (int i = 0; i < result.size(); i++) {
            double wanted = expected.applyAsDouble(i);
            double has = result.dtype().isFloat() ? result.get(i) : (double) result.getLong(i);
            if (Double.isFinite(wanted)) {
                assertThat(has)
                        .as("element %d", i)
                        .isCloseTo(wanted, Offset.offset(1e-12 * Math.max(1, Math.abs(wanted))));
            } else {
                assertThat(has).as("element %d", i).isEqualTo(Double.valueOf(wanted));
            }
        }
    }

    static void check(NdArray result, long[] sizes, double... expected) {
        assertThat(result.size()).isEqualTo(expected.length);
        check(result, sizes, i -> expected[i]);
    }
}
