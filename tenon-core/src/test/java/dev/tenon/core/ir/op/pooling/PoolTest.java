package dev.tenon.core.ir.op.pooling;

import static dev.tenon.core.ir.op.Nd.check;
import static dev.tenon.core.ir.op.Nd.counting;
import static dev.tenon.core.ir.op.Nd.f32;
import static dev.tenon.core.ir.op.Nd.longs;
import static dev.tenon.core.ir.op.Nd.run;
import static dev.tenon.core.ir.op.Nd.shape;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
        Pool op = new Pool(PoolFn.MAX, longs(2), longs(2), longs(1), longs(1), longs(1), false, false, 0);
        NdArray x = f32(shape(1, 1, 4), -5, Double.NaN, -7, -6);
        check(run(op, x), shape(1, 1, 3), -5, Double.NaN, -6);
        NdArray bytes = NdArray.of(new TensorType(DType.I8, shape(1, 1, 4)), -5L, 3, -7, -6);
        check(run(op, bytes), shape(1, 1, 3), -5, 3, -6);
    }

    /** kernel, stride, before, after, dilation, input, and whether every window has a cell in the input. */
    @ParameterizedTest
    @CsvSource({
        "2,1,1,1,1,4,true",
        "2,1,2,0,1,4,false",
        "2,1,0,2,1,4,false",
        "2,3,0,4,1,5,false",
        "3,1,2,2,1,1,true",
        "2,1,3,3,3,3,true",
        "2,1,3,3,3,2,false",
        "2,3,3,3,3,2,true",
        "2147483647,1,2147483646,0,1,1,true",
        "1,1,1,0,1,4,false"
    })
    void windowsOfPaddingAloneAreRefused(
            long kernel, long stride, long before, long after, long dilation, long input, boolean accepted) {
        Shape x = Shape.of(1, 1, input);
        for (PoolFn fn : PoolFn.values()) {
            Pool op = new Pool(
                    fn, longs(kernel), longs(stride), longs(before), longs(after), longs(dilation), false, false, 2);
            if (accepted || fn == PoolFn.LP) {
                assertThat(op.shapes(List.of(x))).hasSize(1);
            } else {
                assertThatThrownBy(() -> op.shapes(List.of(x)))
                        .isInstanceOf(ShapeException.class)
                        .hasMessageContainingAll("pool", "padding alone", x.toString());
            }
        }
        Pool counted = new Pool(
                PoolFn.AVERAGE,
                longs(kernel),
                longs(stride),
                longs(before),
                longs(after),
                longs(dilation),
                false,
                true,
                2);
        assertThat(counted.shapes(List.of(x))).hasSize(1);
    }

    /** The rule against a count of the cells. */
    @Test
    void theRuleForPaddingAloneCountsCells() {
        for (int code = 0; code < 4 * 4 * 7 * 7 * 4 * 5; code++) {
            long kernel = code % 4 + 1;
            long stride = code / 4 % 4 + 1;
            long before = code / 16 % 7;
            long after = code / 112 % 7;
            long dilation = code / 784 % 4 + 1;
            long input = code / 3136 % 5 + 1;
            long room = input + before + after - (kernel - 1) * dilation - 1;
            if (room < 0) {
                continue;
            }
            boolean expected = true;
            for (long position = 0; position <= room / stride; position++) {
                long start = position * stride - before;
                expected &= LongStream.range(0, kernel)
                        .map(cell -> start + cell * dilation)
                        .anyMatch(at -> at >= 0 && at < input);
            }
            Pool op = new Pool(
                    PoolFn.MAX,
                    longs(kernel),
                    longs(stride),
                    longs(before),
                    longs(after),
                    longs(dilation),
                    false,
                    false,
                    0);
            boolean found = true;
            try {
                op.shapes(List.of(Shape.of(1, 1, input)));
            } catch (ShapeException e) {
                found = false;
            }
            assertThat(found).as("%s over %d", op, input).isEqualTo(expected);
        }
    }

    @Test
    void attributesPastThirtyTwoBitsAreRefused() {
        List<Long> one = longs(1);
        List<Long> huge = longs(1L << 40);
        assertThatThrownBy(() -> new Pool(PoolFn.MAX, one, huge, longs(0), longs(0), one, false, false, 0))
                .isInstanceOf(ShapeException.class)
                .hasMessageContainingAll("pool", "strides are [1099511627776]");
        assertThatThrownBy(() -> new Pool(PoolFn.MAX, huge, one, longs(0), longs(0), one, false, false, 0))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("kernel is [1099511627776]");
        assertThatThrownBy(() -> new Pool(PoolFn.MAX, one, one, huge, longs(0), one, false, false, 0))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("pads are [1099511627776]");
        assertThatThrownBy(() -> new Pool(PoolFn.MAX, one, one, longs(0), longs(0), huge, false, false, 0))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("dilations are [1099511627776]");
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
