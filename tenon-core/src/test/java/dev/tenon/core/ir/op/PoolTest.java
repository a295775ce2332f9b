package dev.tenon.core.ir.op;

import static dev.tenon.core.ir.op.Nd.check;
import static dev.tenon.core.ir.op.Nd.counting;
import static dev.tenon.core.ir.op.Nd.f32;
import static dev.tenon.core.ir.op.Nd.longs;
import static dev.tenon.core.ir.op.Nd.run;
import static dev.tenon.core.ir.op.Nd.shape;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pooling against numbers worked out by hand, and those of ONNX's own tests. */
class PoolTest {
    private static Pool square(PoolFn fn, long kernel, long stride, long pad, boolean ceil, boolean countPadding) {
        return new Pool(
                fn,
                longs(kernel, kernel),
                longs(stride, stride),
                longs(pad, pad),
                longs(pad, pad),
                longs(1, 1),
                ceil,
                countPadding,
                2);
    }

    @Test
    void averageCountsCellsInsideThePaddedInput() {
        NdArray x = counting(shape(1, 1, 4, 4));
        check(
                run(square(PoolFn.AVERAGE, 3, 2, 1, true, true), x),
                shape(1, 1, 3, 3),
                14 / 9.0,
                10 / 3.0,
                2,
                19 / 3.0,
                11,
                6,
                4.5,
                7.5,
                4);
        check(
                run(square(PoolFn.AVERAGE, 3, 2, 1, true, false), x),
                shape(1, 1, 3, 3),
                3.5,
                5,
                6,
                9.5,
                11,
                12,
                13.5,
                15,
                16);
    }

    @Test
    void theLastWindowStartsInsideTheInput() {
        NdArray x = f32(shape(1, 1, 2, 2), 0.858, 0.0786, 0.2692, 0.1537);
        check(run(square(PoolFn.AVERAGE, 3, 3, 1, true, true), x), shape(1, 1, 1, 1), 1.3595 / 9);
        Shape named = Shape.of(Dim.of(1), Dim.of(3), Dim.named("h"), Dim.of(6));
        assertThat(square(PoolFn.MAX, 3, 1, 1, true, false).shapes(List.of(named)))
                .containsExactly(named);
    }

    @Test
    void maximumSkipsPaddingAndKeepsNaN() {
        Pool op = new Pool(PoolFn.MAX, longs(2), longs(2), longs(2), longs(1), longs(1), false, false, 0);
        NdArray x = f32(shape(1, 1, 3), -5, Double.NaN, -7);
        check(run(op, x), shape(1, 1, 3), Double.NEGATIVE_INFINITY, Double.NaN, -7);
        NdArray bytes = NdArray.of(new TensorType(DType.I8, shape(1, 1, 3)), -5L, 3, -7);
        check(run(op, bytes), shape(1, 1, 3), -128, 3, -7);
    }

    @Test
    void indicesCountInEitherOrder() {
        NdArray x = f32(shape(1, 2, 2, 3), 1, 9, 3, 4, 5, 6, 7, 7, 1, 2, 3, 4);
        for (boolean columnMajor : new boolean[] {false, true}) {
            MaxPoolIndices op = new MaxPoolIndices(
                    longs(2, 3), longs(1, 1), longs(0, 0), longs(0, 0), longs(1, 1), false, columnMajor);
            List<NdArray> both = op.evaluate(List.of(x));
            check(both.get(0), shape(1, 2, 1, 1), 9, 7);
            check(both.get(1), shape(1, 2, 1, 1), columnMajor ? 2 : 1, 6);
        }
    }

    @Test
    void norms() {
        Pool op = new Pool(PoolFn.LP, longs(2), longs(1), longs(0), longs(0), longs(1), false, false, 3);
        check(
                run(op, f32(shape(1, 1, 3), 1.764052391052246, 0.40015721321105957, 0.978738009929657)),
                shape(1, 1, 2),
                1.770889401435852,
                1.0005451440811157);
    }
}
