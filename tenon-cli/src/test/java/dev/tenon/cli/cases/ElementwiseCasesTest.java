package dev.tenon.cli.cases;

import static dev.tenon.cli.cases.Cpu.f32;
import static dev.tenon.cli.cases.Cpu.i32;
import static dev.tenon.cli.cases.Cpu.sizes;
import static java.lang.Double.NEGATIVE_INFINITY;
import static java.lang.Double.NaN;
import static java.lang.Double.POSITIVE_INFINITY;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

final class ElementwiseCasesTest {
    private static void cast(DType to, double[] from, double... expected) {
        // as they are, and often enough that whole vectors and a tail are cast
        for (int times : new int[] {1, 9}) {
            double[] x = repeated(from, times);
            Cpu.check(
                    new Cast(to, true),
                    List.of(f32(x)),
                    y -> Cpu.exactly(y, sizes(x.length), repeated(expected, times)));
        }
    }

    private static double[] repeated(double[] values, int times) {
        double[] all = new double[values.length * times];
        java.util.Arrays.setAll(all, i -> values[i % values.length]);
        return all;
    }

    @Test
    @DisplayName("CA-01 floats to integers truncate, saturate, and make NaN 0")
    void casts() {
        cast(
                DType.I32,
                new double[] {NaN, POSITIVE_INFINITY, NEGATIVE_INFINITY, 3e9, -3e9, 1.9, -1.9, 2147483520},
                0,
                Integer.MAX_VALUE,
                Integer.MIN_VALUE,
                Integer.MAX_VALUE,
                Integer.MIN_VALUE,
                1,
                -1,
                2147483520);
        cast(DType.U8, new double[] {-1, 300, NaN, 255.9}, 0, 255, 0, 255);
        cast(DType.I8, new double[] {200, -200}, 127, -128);
        cast(DType.BOOL, new double[] {NaN, 0, -0.0, 0.3}, 1, 0, 0, 1);
    }

    @Test
    @DisplayName("RD-01 rounding is half to even")
    void round() {
        Cpu.check(
                Unary.of(UnaryFn.ROUND),
                List.of(f32(0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997f, 8388609)),
                y -> Cpu.exactly(y, sizes(8), 0, 2, 2, -0.0, -2, -2, 0, 8388609));
    }

    @Test
    @DisplayName("RD-01 f32 to bf16 rounds half to even, keeps NaN, overflows to infinity")
    void bfloat16() {
        int[] bits = {0x3E89CCD5, 0x3F808000, 0x3F818000, 0x7F800001, 0x7F7FFFFF, 0xFF800000, 0x00008001};
        int[] expected = {0x3E8A, 0x3F80, 0x3F82, 0x7FC0, 0x7F80, 0xFF80, 0x0001};
        for (int times : new int[] {1, 9}) {
            Tensor x = Tensor.zeros(DType.F32, 7L * times);
            for (int i = 0; i < 7 * times; i++) {
                Elements.setBits(DType.F32, x.segment(), i, bits[i % 7]);
            }
            Cpu.check(new Cast(DType.BF16, true), List.of(x), y -> {
                for (int i = 0; i < 7 * times; i++) {
                    if (i % 7 == 3) {
                        assertThat(y.getDouble(i)).isNaN();
                    } else {
                        assertThat(Elements.bits(DType.BF16, y.segment(), i)).isEqualTo(expected[i % 7]);
                    }
                }
            });
        }
    }

    @ParameterizedTest
    @CsvSource({"DIV,'2,-2,-2,2'", "FLOOR_DIV,'2,-3,-3,2'", "MOD,'1,2,-2,-1'", "FMOD,'1,-1,1,-1'"})
    @DisplayName("DV-01 signs of quotients and remainders")
    void integerDivision(BinaryFn fn, String expected) {
        double[] wanted = java.util.Arrays.stream(expected.split(","))
                .mapToDouble(Double::parseDouble)
                .toArray();
        Tensor a = i32(7, -7, 7, -7);
        Tensor b = i32(3, 3, -3, -3);
        Cpu.check(new Binary(fn), List.of(a, b), y -> Cpu.exactly(y, sizes(4), wanted));
        if (fn != BinaryFn.FLOOR_DIV) {
            OnnxModel model = OnnxModel.load(Onnx.file("int_" + fn.name().toLowerCase(java.util.Locale.ROOT)));
            Tensor y = Cpu.only(
                    model.graph(),
                    Map.of(
                            model.inputs().get(0).name(), a,
                            model.inputs().get(1).name(), b));
            Cpu.exactly(y, sizes(4), wanted);
        }
    }

    @Test
    @DisplayName("DV-01 the least integer by -1 wraps; floats keep the dividend's or the divisor's sign")
    void divisionEdges() {
        List<Tensor> least = List.of(i32(Integer.MIN_VALUE), i32(-1));
        Cpu.check(new Binary(BinaryFn.DIV), least, y -> Cpu.exactly(y, sizes(1), Integer.MIN_VALUE));
        Cpu.check(new Binary(BinaryFn.MOD), least, y -> Cpu.exactly(y, sizes(1), 0));
        List<Tensor> floats = List.of(f32(-7), f32(3));
        Cpu.check(new Binary(BinaryFn.FMOD), floats, y -> Cpu.exactly(y, sizes(1), -1));
        Cpu.check(new Binary(BinaryFn.MOD), floats, y -> Cpu.exactly(y, sizes(1), 2));
    }

    @ParameterizedTest
    @EnumSource(names = {"DIV", "FLOOR_DIV", "MOD", "FMOD"})
    @DisplayName("DV-01 integer division by zero is an error")
    void divisionByZero(BinaryFn fn) {
        Cpu.fails(Cpu.op(new Binary(fn)), List.of(i32(1, 7), i32(1, 0)), DataException.class, "zero");
    }

    @Test
    @DisplayName("PW-01 powers follow IEEE 754")
    void powers() {
        double third = (float) (1.0 / 3);
        double[] a = {-4, -2, -2, 0, NaN, 1, -1, -8, 0, -0.0, 2};
        double[] b = {2, 3, -1, 0, 0, NaN, POSITIVE_INFINITY, third, -1, -1, 0.5};
        double[] y = {16, -8, -0.5, 1, 1, 1, 1, NaN, POSITIVE_INFINITY, NEGATIVE_INFINITY, Math.sqrt(2)};
        Cpu.check(new Binary(BinaryFn.POW), List.of(f32(a), f32(b)), found -> Cpu.within(found, 1e-6, 0, y));
        // an exponent that the compiler knows
        for (int i = 0; i < a.length; i++) {
            double base = a[i];
            double exponent = b[i];
            double wanted = y[i];
            Cpu.check(
                    (g, x) -> List.of(g.binary(BinaryFn.POW, x.getFirst(), g.scalar(DType.F32, exponent))),
                    List.of(f32(base)),
                    found -> Cpu.within(found.getFirst(), 1e-6, 0, wanted));
        }
    }

    @Test
    @DisplayName("PW-01 integer powers")
    void integerPowers() {
        Cpu.check(
                new Binary(BinaryFn.POW),
                List.of(i32(2, -1, 0, 2), i32(10, -1, 0, -1)),
                y -> Cpu.exactly(y, sizes(4), 1024, -1, 1, 0));
        Cpu.fails(Cpu.op(new Binary(BinaryFn.POW)), List.of(i32(0), i32(-1)), DataException.class, "pow");
    }

    private static final double[] WIDE = {-100, -40, -13.24, -1, 0, 1, 11, 40, 100};

    private static double sigmoid(double x) {
        return 1 / (1 + Math.exp(-x));
    }

    private static double geluTanh(double x) {
        return x * sigmoid(2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x));
    }

    private static void activation(DType dtype, Unary fn, DoubleUnaryOperator meaning) {
        Tensor x = Tensor.of(dtype, WIDE, WIDE.length);
        double relative = dtype == DType.F32 ? 1e-5 : dtype == DType.F16 ? 0x1p-10 : 0x1p-7;
        double[] expected = java.util.Arrays.stream(x.toDoubles()).map(meaning).toArray();
        Cpu.check(fn, List.of(x), y -> {
            Cpu.within(y, relative, 1e-6, expected);
            assertThat(java.util.Arrays.stream(y.toDoubles()).allMatch(Double::isFinite))
                    .isTrue();
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"F32", "F16", "BF16"})
    @DisplayName("GE-01 activations of large numbers are finite and right")
    void activations(DType dtype) {
        activation(dtype, Unary.of(UnaryFn.GELU_TANH), ElementwiseCasesTest::geluTanh);
        activation(dtype, Unary.silu(), x -> x * sigmoid(x));
        activation(dtype, Unary.of(UnaryFn.SIGMOID), ElementwiseCasesTest::sigmoid);
        activation(dtype, Unary.of(UnaryFn.TANH), Math::tanh);
        activation(dtype, Unary.of(UnaryFn.SOFTPLUS), x -> Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))));
        // x/2 (1 + erf(x / sqrt 2)): 0.8413447 at 1, x or 0 from 11 on
        activation(
                dtype, Unary.of(UnaryFn.GELU), x -> Math.abs(x) == 1 ? 0.5 * x + 0.3413447460685429 : Math.max(x, 0));
    }

    @Test
    @DisplayName("GE-01 gelu of the largest f16")
    void largestHalf() {
        Tensor x = Tensor.of(DType.F16, new double[] {65504, -65504}, 2);
        for (UnaryFn fn : List.of(UnaryFn.GELU, UnaryFn.GELU_TANH)) {
            Cpu.check(Unary.of(fn), List.of(x), y -> Cpu.within(y, 0, 0, 65504, 0));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"F32", "F16", "BF16", "F64"})
    @DisplayName("GE-02 activations have their limits")
    void limits(DType dtype) {
        double inf = Double.POSITIVE_INFINITY;
        // as many as vector loops have lanes, and some left over
        double[] x = new double[51];
        java.util.Arrays.setAll(x, i -> i % 3 == 0 ? -inf : i % 3 == 1 ? inf : Double.NaN);
        List<Unary> activations = List.of(
                Unary.of(UnaryFn.GELU),
                Unary.of(UnaryFn.GELU_TANH),
                Unary.silu(),
                new Unary(UnaryFn.SILU, 1.702f, 0),
                Unary.of(UnaryFn.MISH),
                Unary.of(UnaryFn.HARD_SWISH),
                new Unary(UnaryFn.LEAKY_RELU, 0, 0));
        for (Unary fn : activations) {
            Cpu.check(fn, List.of(Tensor.of(dtype, x, x.length)), y -> {
                for (int i = 0; i < x.length; i++) {
                    double wanted = i % 3 == 0 ? 0 : x[i];
                    assertThat(y.getDouble(i) == wanted || (Double.isNaN(wanted) && Double.isNaN(y.getDouble(i))))
                            .as("%s of %s is %s", fn, x[i], y.getDouble(i))
                            .isTrue();
                }
            });
        }
    }

    @Test
    @DisplayName("GE-02 the negative tails are kept")
    void tails() {
        tail(Unary.of(UnaryFn.GELU_TANH), -4, -7.0245948e-5);
        tail(Unary.of(UnaryFn.GELU_TANH), -6, -8.4396467e-11);
        tail(Unary.of(UnaryFn.GELU), -4, -1.2668497e-4);
        tail(Unary.of(UnaryFn.GELU), -6, -5.9195259e-9);
        tail(Unary.silu(), -20, -4.1223072e-8);
    }

    private static void tail(Unary fn, double x, double wanted) {
        double[] values = new double[19];
        double[] expected = new double[19];
        java.util.Arrays.fill(values, x);
        java.util.Arrays.fill(expected, wanted);
        Cpu.check(fn, List.of(Tensor.of(DType.F32, values, 19)), y -> Cpu.within(y, 1e-6, 0, expected));
    }
}
