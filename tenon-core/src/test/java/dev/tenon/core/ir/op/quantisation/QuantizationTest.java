package dev.tenon.core.ir.op.quantisation;

import static dev.tenon.core.ir.op.Nd.check;
import static dev.tenon.core.ir.op.Nd.f32;
import static dev.tenon.core.ir.op.Nd.ints;
import static dev.tenon.core.ir.op.Nd.run;
import static dev.tenon.core.ir.op.Nd.shape;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Quantisation against the numbers of ONNX's own tests. */
class QuantizationTest {
    private static final NdArray TWO = f32(Shape.scalar(), 2);

    @Test
    void saturatesAndRoundsHalfToEven() {
        check(
                run(
                        new Quantize(DType.U8, 1, 0, true),
                        f32(0, 2, 3, 1000, -254, -1000),
                        TWO,
                        ints(DType.U8, Shape.scalar(), 128)),
                shape(6),
                128,
                129,
                130,
                255,
                1,
                0);
        check(
                run(
                        new Quantize(DType.I16, 0, 0, true),
                        f32(0, -514, 3, -3, 2.9, -2.9, 65022, -66046, 65023, -66047, 65024, -66048, 70000, -70000),
                        TWO,
                        ints(DType.I16, Shape.scalar(), 256)),
                shape(14),
                256,
                -1,
                258,
                254,
                257,
                255,
                32767,
                -32767,
                32767,
                -32768,
                32767,
                -32768,
                32767,
                -32768);
    }

    @Test
    void scalesLieAlongAnAxisOrInBlocks() {
        check(
                run(
                        new Quantize(DType.U8, 1, 0, true),
                        f32(shape(1, 3, 2), -162, 10, -76, 0, 245, -485),
                        f32(2, 4, 5),
                        ints(DType.U8, shape(3), 84, 24, 196)),
                shape(1, 3, 2),
                3,
                89,
                5,
                24,
                245,
                99);
        NdArray x = f32(shape(3, 4), 6, -8, -10, 5, 1, 8, 4, 5, 0, 20, 10, 4);
        NdArray scale = f32(shape(3, 2), 1.5, 2.5, 3, 4.9, 5.1, 6.9);
        NdArray blocked = run(new Quantize(DType.I16, 1, 2, false), x, scale);
        check(blocked, shape(3, 4), 4, -5, -4, 2, 0, 3, 1, 1, 0, 4, 1, 1);
        check(
                run(new Dequantize(1, 2, false), blocked, scale),
                shape(3, 4),
                6,
                -7.5,
                -10,
                5,
                0,
                9,
                4.9,
                4.9,
                0,
                20.4,
                6.9,
                6.9);
        // blocks along the outer axis, the last one short
        check(
                run(
                        new Dequantize(0, 2, false),
                        ints(DType.I8, shape(3, 2), 1, 2, 3, 4, 5, 6),
                        f32(shape(2, 2), 1, 10, 100, 1000)),
                shape(3, 2),
                1,
                20,
                3,
                40,
                500,
                6000);
    }

    @Test
    void floatsOfEightBits() {
        NdArray y = run(
                new Quantize(DType.F8E4M3, 1, 0, true),
                f32(0, 1, 2, 100000, 200, Double.NaN, 0.3),
                TWO,
                NdArray.of(new TensorType(DType.F8E4M3, shape(1)), 0.0));
        check(y, shape(7), 0, 0.5, 1, 448, 96, Double.NaN, 0.15625);
        check(run(new Dequantize(1, 0, false), y, TWO), shape(7), 0, 1, 2, 896, 192, Double.NaN, 0.3125);
    }

    @Test
    void dequantisesToTheScalesType() {
        Dequantize op = new Dequantize(0, 0, true);
        assertThat(op.dtypes(List.of(DType.U8, DType.F16, DType.U8))).containsExactly(DType.F16);
        check(
                run(op, ints(DType.U8, shape(4), 0, 3, 128, 255), TWO, ints(DType.U8, Shape.scalar(), 128)),
                shape(4),
                -256,
                -250,
                0,
                254);
        assertThatThrownBy(() -> op.dtypes(List.of(DType.U8, DType.F16, DType.I8)))
                .isInstanceOf(DTypeException.class);
        assertThatThrownBy(() -> op.shapes(List.of(shape(4), shape(3), shape(3))))
                .hasMessageContaining("expected [4]");
    }

    @Test
    void theRangeOfTheValuesGivesScaleAndZeroPoint() {
        List<NdArray> results = new DynamicQuantize().evaluate(List.of(f32(0, 2, -3, -2.5, 1.34, 0.5)));
        check(results.get(0), shape(6), 153, 255, 0, 26, 221, 179);
        check(results.get(1), Shape.scalar(), 0.019607843831181526);
        check(results.get(2), Shape.scalar(), 153);
        List<NdArray> zeros = new DynamicQuantize().evaluate(List.of(f32(0, 0)));
        check(zeros.get(0), shape(2), 0, 0);
        check(zeros.get(1), Shape.scalar(), 1);
    }
}
