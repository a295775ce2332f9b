package dev.tenon.core.ir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import java.math.BigInteger;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SizeMathTest {
    private static final long[] EDGES = {
        0, 1, -1, 2, 3, 1L << 31, 1L << 32, -(1L << 31), 1L << 62, Long.MAX_VALUE, Long.MIN_VALUE, 3037000500L
    };

    private static boolean fits(BigInteger value) {
        return value.bitLength() < 64;
    }

    @Test
    void productsAndSumsAreExactOrRefused() {
        SplittableRandom random = new SplittableRandom(1);
        for (int round = 0; round < 20_000; round++) {
            long a = pick(random);
            long b = pick(random);
            BigInteger product = BigInteger.valueOf(a).multiply(BigInteger.valueOf(b));
            BigInteger sum = BigInteger.valueOf(a).add(BigInteger.valueOf(b));
            if (fits(product)) {
                assertThat(SizeMath.product("op", a, b)).isEqualTo(product.longValueExact());
                assertThat(SizeMath.product("op", 1, a, b)).isEqualTo(product.longValueExact());
            } else {
                assertThatThrownBy(() -> SizeMath.product("op", a, b))
                        .isInstanceOf(ShapeException.class)
                        .hasMessageStartingWith("op: " + a + " * " + b + " does not fit 64 bits");
                assertThatThrownBy(() -> SizeMath.product("op", 1, a, b)).isInstanceOf(ShapeException.class);
            }
            if (fits(sum)) {
                assertThat(SizeMath.sum("op", a, b)).isEqualTo(sum.longValueExact());
            } else {
                assertThatThrownBy(() -> SizeMath.sum("op", a, b))
                        .isInstanceOf(ShapeException.class)
                        .hasMessageStartingWith("op: " + a + " + " + b);
            }
        }
    }

    private static long pick(SplittableRandom random) {
        return random.nextBoolean() ? EDGES[random.nextInt(EDGES.length)] : random.nextLong() >> random.nextInt(64);
    }

    @Test
    void aFactorOfZeroSettlesAProduct() {
        assertThat(SizeMath.product("op", 1L << 40, 1L << 40, 0)).isZero();
        assertThat(SizeMath.estimate(1L << 40, 1L << 40, 8)).isEqualTo(Long.MAX_VALUE);
        assertThat(SizeMath.estimate(3, 5)).isEqualTo(15);
    }

    @Test
    void intsAreExactOrRefused() {
        assertThat(SizeMath.toInt("op", Integer.MAX_VALUE)).isEqualTo(Integer.MAX_VALUE);
        assertThat(SizeMath.toInt("op", 1L << 15, 1L << 15)).isEqualTo(1 << 30);
        assertThatThrownBy(() -> SizeMath.toInt("op", 1L << 31))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageStartingWith("op: a size of 2147483648 is too large");
        assertThat(SizeMath.roundUp("op", 65, 64)).isEqualTo(128);
        assertThatThrownBy(() -> SizeMath.roundUp("op", Long.MAX_VALUE, 64)).isInstanceOf(ShapeException.class);
    }

    @Test
    void bytesPastSixtyThreeBitsAreRefusedForEveryType() {
        for (DType dtype : DType.values()) {
            long most = dtype.bits() < 8 ? Long.MAX_VALUE : Long.MAX_VALUE / (dtype.bits() / 8);
            assertThat(dtype.bytesFor(most)).isPositive();
            if (dtype.bits() > 8) {
                assertThatThrownBy(() -> dtype.bytesFor(most + 1))
                        .isInstanceOf(OutOfMemoryException.class)
                        .hasMessageContainingAll(String.valueOf(most + 1), dtype.toString());
            }
        }
    }

    @Test
    void resultsWhoseBytesAreNoNumberAreRefusedByName() {
        TensorType wide = TensorType.of(DType.F32, 1, 1L << 61);
        assertThatThrownBy(() -> new Expand(List.of(2L, 1L << 61)).infer(List.of(TensorType.of(DType.F32, 1, 1))))
                .isInstanceOf(OutOfMemoryException.class)
                .hasMessageContainingAll("expand", "[2,2305843009213693952]");
        assertThatThrownBy(() -> new Concat(1)
                        .infer(List.of(
                                TensorType.of(DType.U8, 1, Long.MAX_VALUE),
                                TensorType.of(DType.U8, 1, Long.MAX_VALUE))))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("9223372036854775807 + 9223372036854775807");
        assertThatThrownBy(wide::bytes).isInstanceOf(OutOfMemoryException.class);
    }

    @Test
    void stridesOfEmptyShapesNeverOverflow() {
        Shape empty = Shape.of(0, 1L << 40, 1L << 40);
        assertThat(empty.elements()).isZero();
        assertThat(empty.strides()).hasSize(3);
        assertThat(Shape.of(2, 3, 4).strides()).containsExactly(12, 4, 1);
    }
}
