package dev.tenon.core.ir.op.convolution;

import static dev.tenon.core.ir.op.Nd.check;
import static dev.tenon.core.ir.op.Nd.f32;
import static dev.tenon.core.ir.op.Nd.full;
import static dev.tenon.core.ir.op.Nd.ints;
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
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.elementwise.Unary;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Convolutions against numbers worked out by hand, and those of ONNX's own tests. */
class ConvTest {
    private static Conv padded(long before, long after) {
        return new Conv(longs(1), longs(before), longs(after), longs(1), 1, Epilogue.NONE);
    }

    @Test
    void paddingMayDifferAtTheTwoEnds() {
        NdArray x = f32(shape(1, 1, 4), 1, 2, 3, 4);
        NdArray ones = f32(shape(1, 1, 3), 1, 1, 1);
        NdArray pair = f32(shape(1, 1, 2), 1, 10);
        check(run(padded(0, 1), x, ones), shape(1, 1, 3), 6, 9, 7);
        check(run(padded(1, 0), x, ones), shape(1, 1, 3), 3, 6, 9);
        check(run(padded(0, 1), x, pair), shape(1, 1, 4), 21, 32, 43, 4);
        check(run(padded(1, 0), x, pair), shape(1, 1, 4), 10, 21, 32, 43);
        Conv flat = new Conv(longs(1, 1), longs(0, 1), longs(0, 0), longs(1, 1), 1, Epilogue.NONE);
        check(
                run(flat, x.reshaped(shape(1, 1, 1, 4)), pair.reshaped(shape(1, 1, 1, 2))),
                shape(1, 1, 1, 4),
                10,
                21,
                32,
                43);
        Conv tall = new Conv(longs(1, 1), longs(1, 0), longs(0, 0), longs(1, 1), 1, Epilogue.NONE);
        check(
                run(tall, x.reshaped(shape(1, 1, 4, 1)), pair.reshaped(shape(1, 1, 2, 1))),
                shape(1, 1, 4, 1),
                10,
                21,
                32,
                43);
    }

    @Test
    void groupsReadTheirOwnChannels() {
        Conv op = new Conv(longs(1, 1), longs(0, 0), longs(0, 0), longs(1, 1), 2, Epilogue.NONE);
        NdArray y = run(op, f32(shape(1, 4, 1, 1), 0, 0, 0, 1), full(shape(16, 2, 1, 1), 1));
        check(y, shape(1, 16, 1, 1), 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
        NdArray x = full(shape(1, 4, 128), 0);
        for (int i = 0; i < x.size(); i++) {
            x.set(i, 1 + i / 128);
        }
        Conv line = new Conv(longs(1), longs(0), longs(0), longs(1), 2, Epilogue.NONE);
        check(run(line, x, full(shape(4, 2, 128), 1)), shape(1, 4, 1), 384, 384, 896, 896);
    }

    @Test
    void theEpilogueKnowsItsChannel() {
        Conv op = new Conv(
                longs(1),
                longs(0),
                longs(0),
                longs(1),
                1,
                Epilogue.NONE.withBias().withActivation(Unary.of(UnaryFn.RELU)).withResidual());
        check(
                run(
                        op,
                        f32(shape(1, 1, 2), 1, 2),
                        f32(shape(2, 1, 1), 1, -1),
                        f32(10, 1),
                        f32(shape(1, 2, 2), 100, 200, 300, 400)),
                shape(1, 2, 2),
                111,
                212,
                300,
                400);
    }

    @Test
    void shapesOfNamedDims() {
        Shape x = Shape.of(Dim.named("batch"), Dim.of(3), Dim.named("h"), Dim.of(9));
        Conv same = new Conv(longs(1, 2), longs(1, 1), longs(1, 1), longs(1, 1), 1, Epilogue.NONE);
        assertThat(same.shapes(List.of(x, shape(5, 3, 3, 3))))
                .containsExactly(Shape.of(Dim.named("batch"), Dim.of(5), Dim.named("h"), Dim.of(5)));
        assertThat(same.shapes(List.of(x, Shape.unknown(4))))
                .containsExactly(Shape.of(Dim.named("batch"), Dim.unknown(), Dim.unknown(), Dim.unknown()));
        assertThatThrownBy(() -> same.shapes(List.of(shape(1, 3, 9, 9), shape(5, 2, 3, 3))))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("expected x dim 1 = 2");
        assertThatThrownBy(() -> same.shapes(List.of(shape(1, 3, 1, 1), shape(5, 3, 4, 3))))
                .hasMessageContaining("does not fit");
    }

    @Test
    void integersLessTheirZeroPoints() {
        NdArray x = ints(DType.U8, shape(1, 1, 3, 3), 2, 3, 4, 5, 6, 7, 8, 9, 10);
        ConvInteger op = new ConvInteger(longs(1, 1), longs(1, 1), longs(1, 1), longs(1, 1), 1, true, true);
        NdArray y = run(
                op,
                x,
                ints(DType.U8, shape(2, 1, 2, 2), 1, 1, 1, 1, 1, 1, 1, 1),
                ints(DType.U8, Shape.scalar(), 1),
                ints(DType.U8, shape(2), 0, 1));
        check(
                y,
                shape(1, 2, 4, 4),
                1,
                3,
                5,
                3,
                5,
                12,
                16,
                9,
                11,
                24,
                28,
                15,
                7,
                15,
                17,
                9,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0);
    }

    @Test
    void transposedConvolutionSpreadsEachElement() {
        NdArray x = f32(shape(1, 2, 3, 3), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17);
        ConvTranspose groups =
                new ConvTranspose(longs(1, 1), longs(0, 0), longs(0, 0), longs(1, 1), longs(0, 0), 2, Epilogue.NONE);
        NdArray y = run(groups, x, full(shape(2, 1, 3, 3), 1));
        assertThat(y.shape()).isEqualTo(shape(1, 2, 5, 5));
        assertThat(Arrays.copyOf(y.toDoubles(), 40))
                .containsExactly(
                        0, 1, 3, 3, 2, 3, 8, 15, 12, 7, 9, 21, 36, 27, 15, 9, 20, 33, 24, 13, 6, 13, 21, 15, 8, 9, 19,
                        30, 21, 11, 21, 44, 69, 48, 25, 36, 75, 117, 81, 42);
        // ONNX's auto_pad SAME_UPPER with strides 2: one column less at the end
        ConvTranspose same =
                new ConvTranspose(longs(2), longs(0), longs(1), longs(1), longs(0), 1, Epilogue.NONE.withBias());
        check(
                run(same, f32(shape(1, 1, 3), 0, 1, 2), full(shape(1, 1, 3), 1), f32(10)),
                shape(1, 1, 6),
                10,
                10,
                11,
                11,
                13,
                12);
        ConvTranspose grown = new ConvTranspose(longs(2), longs(0), longs(0), longs(1), longs(1), 1, Epilogue.NONE);
        check(
                run(grown, f32(shape(1, 1, 3), 0, 1, 2), full(shape(1, 1, 3), 1)),
                shape(1, 1, 8),
                0,
                0,
                1,
                1,
                3,
                2,
                2,
                0);
    }
}
