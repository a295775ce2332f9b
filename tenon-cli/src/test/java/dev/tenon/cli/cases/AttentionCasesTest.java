package dev.tenon.cli.cases;

import static dev.tenon.cli.cases.Cpu.f32;
import static dev.tenon.cli.cases.Cpu.sizes;
import static java.lang.Double.NaN;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.tensor.Tensor;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class AttentionCasesTest {
    private static Attention attention(boolean causal, long window, AttentionMask mask) {
        return new Attention(causal, window, mask, NaN, 0);
    }

    private static Tensor zeros(long length) {
        return Tensor.zeros(DType.F32, 1, 1, length, 1);
    }

    /** One head of size 1, a value a key. */
    private static Tensor values(double... v) {
        return f32(sizes(1, 1, v.length, 1), v);
    }

    @Test
    @DisplayName("AT-01 the causal mask is aligned bottom right")
    void bottomRight() {
        Attention causal = attention(true, 0, AttentionMask.NONE);
        Cpu.check(causal, List.of(zeros(2), zeros(5), values(1, 2, 3, 4, 5)), y -> Cpu.close(y, 2.5, 3));
        Cpu.check(causal, List.of(zeros(5), zeros(2), values(10, 20)), y -> Cpu.close(y, 0, 0, 0, 10, 15));
        Cpu.check(causal, List.of(zeros(1), zeros(5), values(1, 2, 3, 4, 5)), y -> Cpu.close(y, 3));
    }

    private static Tensor mask(int queries, boolean... sees) {
        return Tensor.of(sees, 1, 1, queries, sees.length / queries);
    }

    @Test
    @DisplayName("AT-02 a row that sees no key is 0")
    void emptyRows() {
        Tensor mask = mask(3, false, false, false, true, false, true, true, true, true);
        List<Tensor> inputs = List.of(zeros(3), zeros(3), values(1, 2, 3), mask);
        Cpu.check(attention(false, 0, AttentionMask.BOOLEAN), inputs, y -> Cpu.close(y, 0, 2, 2));
        Cpu.check(attention(true, 0, AttentionMask.BOOLEAN), inputs, y -> Cpu.close(y, 0, 1, 2));
    }

    @Test
    @DisplayName("AT-02 a masked key loses to any score")
    void noSentinel() {
        Cpu.check(
                new Attention(false, 0, AttentionMask.BOOLEAN, 1, 0),
                List.of(values(-20000), values(1, 0), values(1, 100), mask(1, true, false)),
                y -> Cpu.close(y, 1));
    }

    @Test
    @DisplayName("AT-02 NaN in a key reaches the rows that see it, and no other")
    void visibleNaN() {
        Tensor mask = mask(3, false, false, false, true, false, true, true, true, true);
        Cpu.check(
                attention(false, 0, AttentionMask.BOOLEAN),
                List.of(zeros(3), values(NaN, 0, 0), values(1, 2, 3), mask),
                y -> Cpu.close(y, 0, NaN, NaN));
    }

    @Test
    @DisplayName("AT-03 query heads share key heads in groups")
    void groups() {
        Cpu.check(
                attention(false, 0, AttentionMask.NONE),
                List.of(
                        Cpu.filled(TensorType.of(DType.F32, 1, 4, 1, 2), 1),
                        Cpu.filled(TensorType.of(DType.F32, 1, 2, 1, 2), 1),
                        f32(sizes(1, 2, 1, 2), 10, 10, 20, 20)),
                y -> Cpu.exactly(y, sizes(1, 4, 1, 2), 10, 10, 10, 10, 20, 20, 20, 20));
    }

    @ParameterizedTest
    @CsvSource({"3,'0,0.5,1,2,3,4'", "1,'0,1,2,3,4,5'", "6,'0,0.5,1,1.5,2,2.5'", "100,'0,0.5,1,1.5,2,2.5'"})
    @DisplayName("AT-05 a window counts the current token")
    void window(long window, String expected) {
        List<Tensor> inputs = List.of(zeros(6), zeros(6), values(0, 1, 2, 3, 4, 5));
        double[] wanted = java.util.Arrays.stream(expected.split(","))
                .mapToDouble(Double::parseDouble)
                .toArray();
        Cpu.check(attention(true, window, AttentionMask.NONE), inputs, y -> {
            Cpu.close(y, wanted);
            if (window >= 6) {
                Tensor full = Cpu.run(Cpu.op(attention(true, 0, AttentionMask.NONE)), inputs.toArray(Tensor[]::new))
                        .getFirst();
                Cpu.sameBits("no window", y, full);
            }
        });
    }

    @Test
    @DisplayName("AT-05 a window while decoding")
    void windowOfOneQuery() {
        Cpu.check(
                attention(true, 3, AttentionMask.NONE),
                List.of(zeros(1), zeros(6), values(0, 1, 2, 3, 4, 5)),
                y -> Cpu.close(y, 4));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 80, 256, 512})
    @DisplayName("AT-06 heads of any size, between NaN")
    void headSizes(int size) {
        for (DType dtype : List.of(DType.F32, DType.F16)) {
            double tolerance = dtype == DType.F32 ? 1e-5 : 2e-2;
            double[] keys = new double[2 * size];
            double[] values = new double[2 * size];
            double[] expected = new double[size];
            java.util.Arrays.fill(keys, size, 2 * size, Math.log(3) / Math.sqrt(size));
            java.util.Arrays.fill(values, size, 2 * size, 4);
            java.util.Arrays.fill(expected, 3);
            Tensor q = Cpu.guarded(Cpu.filled(TensorType.of(dtype, 1, 1, 1, size), 1), 4);
            Tensor k = Cpu.guarded(Tensor.of(dtype, keys, 1, 1, 2, size), 4);
            Tensor v = Cpu.guarded(Tensor.of(dtype, values, 1, 1, 2, size), 4);
            Attention attention = attention(false, 0, AttentionMask.NONE);
            Cpu.check(attention, List.of(q, k, v), y -> Cpu.within(y, 0, tolerance, expected));

            double[] one = new double[size];
            java.util.Arrays.setAll(one, i -> i - 7);
            Tensor single = Cpu.guarded(Tensor.of(dtype, one, 1, 1, 1, size), 4);
            Cpu.check(attention, List.of(q, q, single), y -> Cpu.exactly(y, sizes(1, 1, 1, size), one));
        }
    }

    @Test
    @DisplayName("RO-01 halves and interleaved pairs")
    void rope() {
        double slow = 0.01;
        Tensor x = f32(sizes(1, 4), 1, 2, 3, 4);
        Tensor cos = f32(sizes(1, 2), Math.cos(1), Math.cos(slow));
        Tensor sin = f32(sizes(1, 2), Math.sin(1), Math.sin(slow));
        Cpu.check(
                new Rope(false, 0),
                List.of(x, cos, sin),
                y -> Cpu.close(y, -1.98411065, 1.95990067, 2.46237790, 4.01979967));
        Cpu.check(
                new Rope(true, 0),
                List.of(x, cos, sin),
                y -> Cpu.close(y, -1.14263966, 1.92207560, 2.95985067, 4.02979950));
        Tensor none = f32(sizes(1, 2), 0, 0);
        Tensor one = f32(sizes(1, 2), 1, 1);
        for (boolean interleaved : new boolean[] {false, true}) {
            Cpu.check(new Rope(interleaved, 0), List.of(x, one, none), y -> Cpu.exactly(y, sizes(1, 4), 1, 2, 3, 4));
        }
    }

    @Test
    @DisplayName("RO-01 what is past the rotary dim passes")
    void partialRope() {
        Tensor x = f32(sizes(1, 6), 1, 2, 3, 4, 5, 6);
        Tensor cos = f32(sizes(1, 2), Math.cos(1), Math.cos(0.01));
        Tensor sin = f32(sizes(1, 2), Math.sin(1), Math.sin(0.01));
        Cpu.check(
                new Rope(false, 4),
                List.of(x, cos, sin),
                y -> Cpu.close(y, -1.98411065, 1.95990067, 2.46237790, 4.01979967, 5, 6));
        Cpu.check(
                new Rope(true, 4),
                List.of(x, cos, sin),
                y -> Cpu.close(y, -1.14263966, 1.92207560, 2.95985067, 4.02979950, 5, 6));
    }
}
