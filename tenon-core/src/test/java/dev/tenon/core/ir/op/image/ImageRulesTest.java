package dev.tenon.core.ir.op.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DataException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.control.Loop;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.DeformConv;
import dev.tenon.core.ir.op.pooling.MaxRoiPool;
import dev.tenon.core.ir.op.pooling.RoiAlign;
import dev.tenon.core.ir.op.searching.Compress;
import java.util.List;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sampled images, regions and searches: values worked out by hand, and what is refused. */
class ImageRulesTest {
    private static NdArray f32(long[] sizes, double... values) {
        return NdArray.of(TensorType.of(DType.F32, sizes), values);
    }

    private static AbstractThrowableAssert<?, ?> running(Op op, NdArray... inputs) {
        return assertThatThrownBy(() -> Interpreter.run(op, List.of(inputs)));
    }

    private static double sample(ResizeMode mode, SamplePadding padding, boolean corners, double at) {
        NdArray line = f32(new long[] {1, 1, 4}, 1, 2, 4, 8);
        return Interpreter.run(new GridSample(mode, padding, corners), List.of(line, f32(new long[] {1, 1, 1}, at)))
                .getFirst()
                .get(0);
    }

    /** Four elements from -1 to 1: with corners an element is 2/3 wide, without 1/2. */
    @ParameterizedTest
    @CsvSource({
        "LINEAR, ZEROS, true, 0, 3",
        "LINEAR, ZEROS, false, 0, 3",
        "LINEAR, ZEROS, false, -1, 0.5",
        "LINEAR, BORDER, false, -1, 1",
        "LINEAR, REFLECTION, false, -1, 1",
        "LINEAR, ZEROS, true, 1, 8",
        "LINEAR, ZEROS, true, 7, 0",
        "LINEAR, BORDER, true, 7, 8",
        "LINEAR, REFLECTION, true, 2, 3",
        "LINEAR, REFLECTION, true, 5, 8",
        "LINEAR, REFLECTION, false, 1.5, 6",
        "NEAREST, ZEROS, false, -0.3, 2",
        "NEAREST, ZEROS, false, 0, 4",
        "NEAREST, ZEROS, false, -1.3, 0",
        "NEAREST, REFLECTION, false, -1.3, 1",
        "CUBIC, ZEROS, true, -1, 1",
        "CUBIC, BORDER, true, 0, 2.71875"
    })
    void samples(ResizeMode mode, SamplePadding padding, boolean corners, double at, double expected) {
        assertThat(sample(mode, padding, corners, at)).isCloseTo(expected, org.assertj.core.data.Offset.offset(1e-6));
    }

    @Test
    void positionsThatAreNoNumbers() {
        for (ResizeMode mode : ResizeMode.values()) {
            for (SamplePadding padding : SamplePadding.values()) {
                assertThat(sample(mode, padding, false, Double.NaN)).isNaN();
            }
            assertThat(sample(mode, SamplePadding.BORDER, false, Double.POSITIVE_INFINITY))
                    .isEqualTo(8);
            assertThat(sample(mode, SamplePadding.ZEROS, false, Double.NEGATIVE_INFINITY))
                    .isZero();
        }
    }

    @Test
    void gridsThatDoNotFit() {
        GridSample op = new GridSample(ResizeMode.LINEAR, SamplePadding.ZEROS, false);
        running(op, NdArray.zeros(DType.F32, 1, 1, 2, 2), NdArray.zeros(DType.F32, 1, 3, 3, 3))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("expected grid dim 3 = 2");
        running(op, NdArray.zeros(DType.F32, 1, 1, 0, 2), NdArray.zeros(DType.F32, 1, 3, 3, 2))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("has nothing to sample");
    }

    @Test
    void regionsOfNoImage() {
        NdArray x = NdArray.zeros(DType.F32, 2, 1, 4, 4);
        NdArray roi = f32(new long[] {1, 4}, 0, 0, 1, 1);
        RoiAlign op = new RoiAlign(1, 1, 0, 1, true, false);
        for (long image : new long[] {-1, 2, Long.MAX_VALUE}) {
            running(op, x, roi, NdArray.ofLongs(image))
                    .isInstanceOf(DataException.class)
                    .hasMessageContaining("roi 0 is of image " + image + "; expected 0 to 1");
        }
        running(new MaxRoiPool(1, 1, 1), x, f32(new long[] {1, 5}, Double.NaN, 0, 0, 1, 1))
                .isInstanceOf(DataException.class);
        for (double wild : new double[] {Double.NaN, Double.POSITIVE_INFINITY, 1e30}) {
            running(op, x, f32(new long[] {1, 4}, 0, 0, wild, 1), NdArray.ofLongs(0))
                    .isInstanceOf(DataException.class)
                    .hasMessageContaining("expected finite numbers within the image");
        }
        assertThatThrownBy(() -> new RoiAlign(0, 1, 0, 1, true, false)).isInstanceOf(ShapeException.class);
    }

    @Test
    void offsetsOfZeroMakeAnOrdinaryConvolution() {
        NdArray x = new dev.tenon.core.testkit.Seeded(3).array(DType.F64, 2, 4, 6, 5);
        NdArray w = new dev.tenon.core.testkit.Seeded(4).array(DType.F64, 6, 2, 3, 2);
        List<Long> strides = List.of(2L, 1L);
        List<Long> pads = List.of(1L, 0L);
        List<Long> dilations = List.of(1L, 2L);
        NdArray wanted = Interpreter.run(new Conv(strides, pads, pads, dilations, 2, Epilogue.NONE), List.of(x, w))
                .getFirst();
        NdArray offsets = NdArray.zeros(
                DType.F64, 2, 12, wanted.shape().size(2), wanted.shape().size(3));
        NdArray has = Interpreter.run(
                        new DeformConv(strides, pads, pads, dilations, 2, 1, false, false), List.of(x, w, offsets))
                .getFirst();
        assertThat(has.type()).isEqualTo(wanted.type());
        for (int i = 0; i < wanted.size(); i++) {
            assertThat(has.get(i)).isCloseTo(wanted.get(i), org.assertj.core.data.Offset.offset(1e-12));
        }
    }

    @Test
    void conditionsPastTheAxis() {
        running(new Compress(0), f32(new long[] {2}, 1, 2), NdArray.of(TensorType.of(DType.BOOL, 3), 0, 0, 1L))
                .isInstanceOf(DataException.class)
                .hasMessageContaining("index 2 is out of range");
    }

    @Test
    void scanOutputsOfDifferentShapesAreRefused() {
        NdArray grown = NdArray.ofLongs(1);
        dev.tenon.core.ir.Graph body = dev.tenon.core.build.GraphBuilder.build("body", g -> {
            g.input("i", TensorType.of(DType.I64));
            var go = g.input("go", TensorType.of(DType.BOOL));
            var state = g.input("state", DType.I64, dev.tenon.core.ir.Dim.unknown());
            g.output("go", go);
            g.output("state", g.concat(List.of(state, state), 0));
            g.output("each", state);
        });
        running(
                        new Loop(body, 1),
                        NdArray.of(TensorType.of(DType.I64), 2L),
                        NdArray.of(TensorType.of(DType.BOOL), 1L),
                        grown)
                .isInstanceOf(DataException.class)
                .hasMessageContaining("i64[1] in iteration 0 and i64[2] in iteration 1");
    }
}
