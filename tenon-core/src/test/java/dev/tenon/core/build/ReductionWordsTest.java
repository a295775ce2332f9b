package dev.tenon.core.build;

import static dev.tenon.core.build.WordRun.all;
import static dev.tenon.core.build.WordRun.booleans;
import static dev.tenon.core.build.WordRun.check;
import static dev.tenon.core.build.WordRun.of;
import static dev.tenon.core.build.WordRun.random;
import static dev.tenon.core.build.WordRun.run;
import static dev.tenon.core.build.WordRun.sizes;

import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Reductions, orders and running sums against loops. */
class ReductionWordsTest {
    private interface Dropping {
        Value apply(GraphBuilder g, Value x, int... axes);
    }

    private interface Keeping {
        Value apply(GraphBuilder g, Value x, boolean keepDims, int... axes);
    }

    private record Word(String name, Dropping dropping, Keeping keeping, ToDoubleFunction<DoubleStream> meaning) {}

    private static Stream<Word> words() {
        return Stream.of(
                new Word("sum", GraphBuilder::sum, GraphBuilder::sum, DoubleStream::sum),
                new Word(
                        "mean",
                        GraphBuilder::mean,
                        GraphBuilder::mean,
                        x -> x.average().orElseThrow()),
                new Word(
                        "max",
                        GraphBuilder::max,
                        GraphBuilder::max,
                        x -> x.max().orElseThrow()),
                new Word(
                        "min",
                        GraphBuilder::min,
                        GraphBuilder::min,
                        x -> x.min().orElseThrow()),
                new Word("prod", GraphBuilder::prod, GraphBuilder::prod, x -> x.reduce(1, (a, b) -> a * b)),
                new Word(
                        "l1Norm",
                        GraphBuilder::l1Norm,
                        GraphBuilder::l1Norm,
                        x -> x.map(Math::abs).sum()),
                new Word(
                        "l2Norm",
                        GraphBuilder::l2Norm,
                        GraphBuilder::l2Norm,
                        x -> Math.sqrt(x.map(each -> each * each).sum())),
                new Word(
                        "logSumExp",
                        GraphBuilder::logSumExp,
                        GraphBuilder::logSumExp,
                        x -> Math.log(x.map(Math::exp).sum())),
                new Word(
                        "reduce",
                        (g, x, axes) -> g.reduce(ReduceFn.SUM_SQUARE, x, false, axes),
                        (g, x, keep, axes) -> g.reduce(ReduceFn.SUM_SQUARE, x, keep, axes),
                        x -> x.map(each -> each * each).sum()));
    }

    /** Elements of x [2,3,4] along its axis 1, for element i of [2,4]. */
    private static DoubleStream column(NdArray x, int i) {
        return IntStream.range(0, 3).mapToDouble(k -> x.get(i / 4 * 12 + k * 4 + i % 4));
    }

    @TestFactory
    Stream<DynamicTest> reductionsOverNegativeAxesSeveralAndAll() {
        NdArray x = random(2, 3, 4);
        return words().map(word -> DynamicTest.dynamicTest(word.name(), () -> {
            check(
                    run((g, in) -> word.dropping().apply(g, in.getFirst(), -2), x),
                    sizes(2, 4),
                    i -> word.meaning().applyAsDouble(column(x, i)));
            check(
                    run((g, in) -> word.keeping().apply(g, in.getFirst(), true, -2), x),
                    sizes(2, 1, 4),
                    i -> word.meaning().applyAsDouble(column(x, i)));
            check(
                    run((g, in) -> word.dropping().apply(g, in.getFirst(), -1, 0), x),
                    sizes(3),
                    i -> word.meaning()
                            .applyAsDouble(IntStream.range(0, 8).mapToDouble(k -> x.get(k / 4 * 12 + i * 4 + k % 4))));
            check(
                    run((g, in) -> word.dropping().apply(g, in.getFirst()), x),
                    sizes(),
                    _ -> word.meaning().applyAsDouble(DoubleStream.of(x.toDoubles())));
            check(
                    run((g, in) -> word.keeping().apply(g, in.getFirst(), true), x),
                    sizes(1, 1, 1),
                    _ -> word.meaning().applyAsDouble(DoubleStream.of(x.toDoubles())));
        }));
    }

    @Test
    void anyAndAllOfBooleans() {
        NdArray x = booleans(sizes(2, 3), 0, 1, 0, 1, 1, 1);
        check(run((g, in) -> g.any(in.getFirst(), 0), x), sizes(3), 1, 1, 1);
        check(run((g, in) -> g.all(in.getFirst(), -1), x), sizes(2), 0, 1);
        check(run((g, in) -> g.all(in.getFirst(), true, -1), x), sizes(2, 1), 0, 1);
        check(run((g, in) -> g.any(in.getFirst(), true, -1), x), sizes(2, 1), 1, 1);
    }

    @Test
    void placesOfExtremes() {
        NdArray x = of(sizes(2, 3), 1, 5, 5, 4, 2, 2);
        check(run((g, in) -> g.argMax(in.getFirst(), -1), x), sizes(2), 1, 0);
        check(run((g, in) -> g.argMax(in.getFirst(), -1, true), x), sizes(2, 1), 1, 0);
        check(run((g, in) -> g.argMin(in.getFirst(), -2), x), sizes(3), 0, 1, 1);
        check(run((g, in) -> g.argMin(in.getFirst(), 1, true), x), sizes(2, 1), 0, 1);
    }

    private static List<Value> both(ReductionOps.Ranked ranked) {
        return List.of(ranked.values(), ranked.indices());
    }

    @Test
    void largestSmallestAndSorted() {
        NdArray x = of(sizes(2, 4), 3, 1, 4, 1, 5, 9, 2, 6);
        List<NdArray> top = all((g, in) -> both(g.topK(in.getFirst(), 2, -1)), x);
        check(top.get(0), sizes(2, 2), 4, 3, 9, 6);
        check(top.get(1), sizes(2, 2), 2, 0, 1, 3);
        List<NdArray> bottom = all((g, in) -> both(g.bottomK(in.getFirst(), 2, -1)), x);
        check(bottom.get(0), sizes(2, 2), 1, 1, 2, 5);
        check(bottom.get(1), sizes(2, 2), 1, 3, 2, 0);
        List<NdArray> sorted = all((g, in) -> both(g.sort(in.getFirst(), -1, false)), x);
        check(sorted.get(0), sizes(2, 4), 1, 1, 3, 4, 2, 5, 6, 9);
        check(sorted.get(1), sizes(2, 4), 1, 3, 0, 2, 2, 0, 3, 1);
        List<NdArray> down = all((g, in) -> both(g.sort(in.getFirst(), 0, true)), x);
        check(down.getFirst(), sizes(2, 4), 5, 9, 4, 6, 3, 1, 2, 1);
    }

    @Test
    void runningSumsAndProducts() {
        NdArray x = random(3, 5);
        double[] sums = x.toDoubles();
        double[] products = x.toDoubles();
        Arrays.setAll(sums, i -> i % 5 == 0 ? sums[i] : sums[i - 1] + sums[i]);
        Arrays.setAll(products, i -> i < 5 ? products[i] : products[i - 5] * products[i]);
        check(run((g, in) -> g.cumsum(in.getFirst(), -1), x), sizes(3, 5), sums);
        check(run((g, in) -> g.cumprod(in.getFirst(), -2), x), sizes(3, 5), products);
    }
}
