package dev.tenon.core.ir.op.contraction;

import static dev.tenon.core.ir.op.Nd.check;
import static dev.tenon.core.ir.op.Nd.counting;
import static dev.tenon.core.ir.op.Nd.f32;
import static dev.tenon.core.ir.op.Nd.full;
import static dev.tenon.core.ir.op.Nd.ints;
import static dev.tenon.core.ir.op.Nd.run;
import static dev.tenon.core.ir.op.Nd.shape;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import java.util.List;
import org.junit.jupiter.api.Test;

/** MatMul, GroupedMatMul and MatMulInteger against numbers worked out by hand. */
class MatMulTest {
    private static final MatMul PLAIN = new MatMul(false, false, Epilogue.NONE);

    @Test
    void anEmptySumIsZeroAndTheEpilogueStillApplies() {
        check(run(PLAIN, full(shape(3, 2, 0), 0), full(shape(3, 0, 3), 0)), shape(3, 2, 3), new double[18]);
        MatMul fused = new MatMul(false, false, Epilogue.NONE.withBias().withActivation(Unary.of(UnaryFn.RELU)));
        check(
                run(fused, full(shape(4, 0), 0), full(shape(0, 3), 0), f32(-1, 2, 3)),
                shape(4, 3),
                0,
                2,
                3,
                0,
                2,
                3,
                0,
                2,
                3,
                0,
                2,
                3);
        check(run(PLAIN, full(shape(0, 5), 0), full(shape(5, 3), 0)), shape(0, 3));
    }

    @Test
    void biasThenActivationThenResidual() {
        MatMul op = new MatMul(
                false,
                false,
                Epilogue.NONE.withBias().withActivation(Unary.of(UnaryFn.RELU)).withResidual());
        check(
                run(op, f32(shape(1, 2), 1, 2), f32(shape(2, 2), 1, -1, 1, -1), f32(1, 1), f32(shape(1, 2), 10, 20)),
                shape(1, 2),
                14,
                20);
    }

    @Test
    void manyBatches() {
        int count = 65537;
        NdArray a = full(shape(count, 1, 4), 0);
        for (int i = 0; i < a.size(); i++) {
            a.set(i, (double) (i % 4 + 1) * (i / 4 % 7));
        }
        NdArray c = run(PLAIN, a, full(shape(count, 4, 1), 1));
        for (int b = 0; b < count; b++) {
            assertThat(c.get(b)).isEqualTo(10.0 * (b % 7));
        }
    }

    @Test
    void operandsBroadcastOverBatchesAndTransposeByFlag() {
        NdArray a = counting(shape(1, 2, 3));
        NdArray b = counting(shape(4, 3, 2));
        NdArray c = run(PLAIN, a, b);
        assertThat(c.shape()).isEqualTo(shape(4, 2, 2));
        for (int batch = 0; batch < 4; batch++) {
            for (int i = 0; i < 2; i++) {
                for (int j = 0; j < 2; j++) {
                    double sum = 0;
                    for (int k = 0; k < 3; k++) {
                        sum += a.get(i * 3 + k) * b.get(batch * 6 + k * 2 + j);
                    }
                    assertThat(c.get(batch * 4 + i * 2 + j)).isEqualTo(sum);
                }
            }
        }
        NdArray columns = f32(shape(3, 2), 1, 4, 2, 5, 3, 6);
        NdArray rows = f32(shape(2, 3), 1, 3, 5, 2, 4, 6);
        check(run(new MatMul(true, true, Epilogue.NONE), columns, rows), shape(2, 2), 22, 28, 49, 64);
    }

    @Test
    void integersAreExact() {
        NdArray a = ints(DType.I64, shape(1, 2), (1L << 60) + 1, 1);
        NdArray b = ints(DType.I64, shape(2, 1), 3, 4);
        assertThat(run(PLAIN, a, b).getLong(0)).isEqualTo(3 * ((1L << 60) + 1) + 4);
    }

    @Test
    void shapesOfNamedDims() {
        Shape a = Shape.of(Dim.named("batch"), Dim.named("n"), Dim.of(8));
        assertThat(PLAIN.shapes(List.of(a, shape(8, 3))))
                .containsExactly(Shape.of(Dim.named("batch"), Dim.named("n"), Dim.of(3)));
        assertThat(PLAIN.shapes(List.of(Shape.unknown(2), Shape.unknown(3)))).containsExactly(Shape.unknown(3));
    }

    @Test
    void faultsNameBothShapes() {
        assertThatThrownBy(() -> PLAIN.shapes(List.of(shape(2, 3), shape(4, 5))))
                .isInstanceOf(ShapeException.class)
                .hasMessage("matmul: inner dimensions differ: lhs [2,3], rhs [4,5]; expected rhs dim 0 = 3");
        assertThatThrownBy(() -> PLAIN.shapes(List.of(shape(2, 2, 3), shape(3, 3, 5))))
                .hasMessageContaining("2 against 3");
        assertThatThrownBy(() -> PLAIN.dtypes(List.of(DType.F32, DType.F16))).isInstanceOf(DTypeException.class);
        assertThatThrownBy(() -> Epilogue.NONE.withActivation(Unary.of(UnaryFn.IS_NAN)))
                .isInstanceOf(DTypeException.class);
    }

    @Test
    void groupsOfRowsMeetTheirExpert() {
        NdArray tokens = counting(shape(5, 2));
        NdArray weights = full(shape(4, 2, 2), 0);
        for (int e = 0; e < 4; e++) {
            weights.set(e * 4, e + 1.0);
            weights.set(e * 4 + 3, e + 1.0);
        }
        GroupedMatMul op = new GroupedMatMul();
        check(
                run(op, tokens, weights, ints(DType.I32, shape(4), 2, 0, 3, 0)),
                shape(5, 2),
                1,
                2,
                3,
                4,
                15,
                18,
                21,
                24,
                27,
                30);
        check(
                run(op, tokens, weights, ints(DType.I64, shape(4), 0, 0, 0, 5)),
                shape(5, 2),
                4,
                8,
                12,
                16,
                20,
                24,
                28,
                32,
                36,
                40);
        check(run(op, f32(shape(1, 2), 1, 2), weights, ints(DType.I32, shape(4), 0, 0, 1, 0)), shape(1, 2), 3, 6);
        check(run(op, full(shape(0, 2), 0), weights, ints(DType.I32, shape(4), 0, 0, 0, 0)), shape(0, 2));
        assertThatThrownBy(() -> run(op, tokens, weights, ints(DType.I32, shape(4), 2, 0, 2, 0)))
                .isInstanceOf(DataException.class);
    }

    @Test
    void integerProductsLessTheirZeroPoints() {
        NdArray a = ints(DType.U8, shape(4, 3), 11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0);
        NdArray b = ints(DType.U8, shape(3, 2), 1, 4, 2, 5, 3, 6);
        check(
                run(new MatMulInteger(true, true), a, b, ints(DType.U8, shape(1), 12), ints(DType.U8, shape(1), 0)),
                shape(4, 2),
                -38,
                -83,
                -44,
                -98,
                -50,
                -113,
                -56,
                -128);
        NdArray rows = ints(DType.U8, shape(4), 11, 10, 9, 8);
        check(run(new MatMulInteger(true, false), a, b, rows), shape(4, 2), -32, -68, -32, -68, -32, -68, -32, -68);
    }
}
