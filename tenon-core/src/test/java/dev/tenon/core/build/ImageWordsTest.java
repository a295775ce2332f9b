package dev.tenon.core.build;

import static dev.tenon.core.build.WordRun.check;
import static dev.tenon.core.build.WordRun.of;
import static dev.tenon.core.build.WordRun.random;
import static dev.tenon.core.build.WordRun.run;
import static dev.tenon.core.build.WordRun.sizes;

import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.op.image.ResizeMode;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Pooling and upsampling against loops. */
class ImageWordsTest {
    /** Elements of x [2,1,5,5] in the window of 3 by 3, stride 2, padding 1, for element i of [2,1,3,3]. */
    private static double[] window(NdArray x, int i) {
        return IntStream.range(0, 9)
                .filter(k -> inside(i / 3 % 3 * 2 - 1 + k / 3) && inside(i % 3 * 2 - 1 + k % 3))
                .mapToDouble(k -> x.get(i / 9 * 25 + (i / 3 % 3 * 2 - 1 + k / 3) * 5 + i % 3 * 2 - 1 + k % 3))
                .toArray();
    }

    private static boolean inside(int at) {
        return at >= 0 && at < 5;
    }

    @Test
    void poolsOverWindows() {
        NdArray x = random(2, 1, 5, 5);
        PoolOptions options = PoolOptions.of(3).withStrides(2).withPadding(1);
        check(
                run((g, in) -> g.maxPool(in.getFirst(), options), x),
                sizes(2, 1, 3, 3),
                i -> DoubleStream.of(window(x, i)).max().orElseThrow());
        check(
                run((g, in) -> g.averagePool(in.getFirst(), options), x),
                sizes(2, 1, 3, 3),
                i -> DoubleStream.of(window(x, i)).average().orElseThrow());
        check(
                run((g, in) -> g.averagePool(in.getFirst(), options.withCountPadding(true)), x),
                sizes(2, 1, 3, 3),
                i -> DoubleStream.of(window(x, i)).sum() / 9);
    }

    @Test
    void stridesAreTheKernelByDefault() {
        NdArray x = of(sizes(1, 1, 5), 1, 4, 2, 3, 9);
        check(run((g, in) -> g.maxPool(in.getFirst(), PoolOptions.of(2)), x), sizes(1, 1, 2), 4, 3);
        check(run((g, in) -> g.maxPool(in.getFirst(), PoolOptions.of(2).withCeil(true)), x), sizes(1, 1, 3), 4, 3, 9);
        check(
                run(
                        (g, in) -> g.maxPool(
                                in.getFirst(), PoolOptions.of(2).withStrides(1).withDilations(3)),
                        x),
                sizes(1, 1, 2),
                3,
                9);
    }

    @Test
    void globalPoolsLeaveOneElementPerChannel() {
        NdArray x = random(2, 3, 2, 2);
        check(
                run((g, in) -> g.globalAveragePool(in.getFirst()), x),
                sizes(2, 3, 1, 1),
                i -> IntStream.range(0, 4)
                        .mapToDouble(k -> x.get(i * 4 + k))
                        .average()
                        .orElseThrow());
        check(
                run((g, in) -> g.globalMaxPool(in.getFirst()), x),
                sizes(2, 3, 1, 1),
                i -> IntStream.range(0, 4)
                        .mapToDouble(k -> x.get(i * 4 + k))
                        .max()
                        .orElseThrow());
    }

    @Test
    void upsamplingNearestRepeats() {
        NdArray x = random(1, 2, 3, 2);
        check(
                run((g, in) -> g.upsample(in.getFirst(), ResizeMode.NEAREST, 2, 3), x),
                sizes(1, 2, 6, 6),
                i -> x.get(i / 36 * 6 + i / 6 % 6 / 2 * 2 + i % 6 / 3));
    }

    @Test
    void upsamplingLinearAlignsHalfPixels() {
        NdArray x = of(sizes(1, 1, 3), 1, 5, 3);
        check(run((g, in) -> g.upsample(in.getFirst(), ResizeMode.LINEAR, 2), x), sizes(1, 1, 6), i -> {
            double at = Math.clamp((i + 0.5) / 2 - 0.5, 0.0, 2.0);
            int left = (int) Math.min(1, Math.floor(at));
            return x.get(left) + (at - left) * (x.get(left + 1) - x.get(left));
        });
    }
}
