package dev.tenon.core.ir.op.elementwise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.UnaryFn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The reference that backends are held to, and the bounds that are stated for them. */
class UnaryAccuracyTest {
    private static final double INF = Double.POSITIVE_INFINITY;

    /** Exact values of numbers of f32 where formulas cancel, overflow or lose digits: mpmath 1.3 at 60 digits. */
    private static final List<String> EXACT = List.of(
            "RSQRT 9.9999461e-41 1.0000026949551561567e+20",
            "RSQRT 3 0.57735026918962576451",
            "RSQRT 3.00000001e+38 5.7735026866060397079e-20",
            "EXP -103.5 1.1233656060805690838e-45",
            "EXP -87.5 9.982350930569247556e-39",
            "EXP -0.346599996 0.70708810970577908405",
            "EXP 9.99999994e-09 1.0000000099999999892",
            "EXP 88.6999969 3.3259768301593061506e+38",
            "EXP2 -148.5 1.9817352931807469938e-45",
            "EXP2 0.300000012 1.231144423517811269",
            "EXP2 127.900002 3.1749501057663918824e+38",
            "EXPM1 -20 -0.99999999793884637756",
            "EXPM1 -9.99999975e-06 -9.9999497475479440854e-6",
            "EXPM1 1e-30 1.000000003171076851e-30",
            "EXPM1 0.699999988 1.0137526834646737059",
            "EXPM1 88 1.6516362549940018555e+38",
            "LOG 1.0005271e-42 -96.708046941092266717",
            "LOG 0.999999881 -1.1920929665620917229e-7",
            "LOG 1.00000012 1.1920928244535445709e-7",
            "LOG 3.00000001e+38 88.596845824274430935",
            "LOG2 1.0005271e-42 -139.5202197359709003",
            "LOG2 0.999999881 -1.7198266111377426061e-7",
            "LOG2 1.00000012 1.7198264061184463619e-7",
            "LOG2 3.00000001e+38 127.81823010908478705",
            "LOG1P -0.999999881 -15.942385152878742117",
            "LOG1P -9.99999997e-07 -1.0000004974755735167e-6",
            "LOG1P 1e-30 1.000000003171076851e-30",
            "LOG1P 1.00000002e+20 46.051701879921790822",
            "SIN 9.99999968e-21 9.999999682655225389e-21",
            "SIN 3.14159274 -8.7422780003724745258e-8",
            "SIN 252.898193 0.99999999988364853823",
            "SIN 7.72917892e+28 0.9999999999999999987",
            "SIN 3.00000001e+38 0.87490488776443438416",
            "COS 1.57079637 -4.3711390001862414389e-8",
            "COS 252.898193 0.000015254603355104610993",
            "COS 7.72917892e+28 -1.6147697982476211876e-9",
            "COS 2.19993846e+10 -2.0126460319185525729e-9",
            "TAN 1.57079637 -22877332.428856459874",
            "TAN 252.898193 65553.98240158246783",
            "TAN 7.72917892e+28 -619283318.95061386812",
            "TAN 0.785398185 1.0000000437113909572",
            "ASIN 1.00000001e-10 1.00000001335143196e-10",
            "ASIN 0.5 0.52359877559829887308",
            "ASIN 0.999999881 1.5703080455400459807",
            "ACOS 0.999999881 0.00048828125485063853956",
            "ACOS 0.5 1.0471975511965977462",
            "ACOS -0.999999881 3.1411043723349425999",
            "ACOS 1.00000001e-10 1.5707963266948966179",
            "ATAN 1.00000001e-10 1.00000001335143196e-10",
            "ATAN 1 0.78539816339744830962",
            "ATAN 1.00000002e+30 1.5707963267948966192",
            "SINH 1.00000001e-10 1.00000001335143196e-10",
            "SINH 0.5 0.52109530549374736162",
            "SINH 88 8.2581812749700092776e+37",
            "COSH 9.99999975e-05 1.0000000049999997515",
            "COSH 2 3.7621956910836314596",
            "COSH -88 8.2581812749700092776e+37",
            "TANH 9.99999968e-21 9.999999682655225389e-21",
            "TANH 0.550000012 0.50052022012472724474",
            "TANH 9 0.99999996954004097448",
            "ASINH 1.00000001e-10 1.00000001335143196e-10",
            "ASINH -0.300000012 -0.2956730589816015178",
            "ASINH 1.00000002e+30 69.770699985428781937",
            "ACOSH 1.00000012 0.00048828124514936172065",
            "ACOSH 1.5 0.962423650119206895",
            "ACOSH 1.00000002e+30 69.770699985428781937",
            "ATANH 1.00000001e-10 1.00000001335143196e-10",
            "ATANH -0.5 -0.5493061443340548457",
            "ATANH 0.999999881 8.3177661369170204371",
            "ERF 1e-30 1.1283791706736896298e-30",
            "ERF 0.5 0.52049987781304653768",
            "ERF -0.899999976 -0.79690820045496844931",
            "ERF 1.29999995 0.93400793501252134727",
            "ERF 3.5 0.99999925690162765859",
            "GELU -13 -7.952313719414843587e-38",
            "GELU -6 -5.9195258702261888442e-9",
            "GELU -4 -0.00012668496733247968502",
            "GELU -1 -0.15865525393145705141",
            "GELU -9.99999968e-21 -4.9999998413276126944e-21",
            "GELU 0.5 0.34573123063700655182",
            "GELU 5 4.999998566742140604",
            "GELU_TANH -10 -1.2040923482098102132e-37",
            "GELU_TANH -6 -8.439646700762303472e-11",
            "GELU_TANH -4 -0.000070245948192372705572",
            "GELU_TANH -1 -0.15880800939172329569",
            "GELU_TANH 0.5 0.34571400982514392199",
            "GELU_TANH 5 4.999999770820380337",
            "SIGMOID -103 1.8521167695179754623e-45",
            "SIGMOID -20 2.0611536181902035814e-9",
            "SIGMOID -1 0.26894142136999512075",
            "SIGMOID 1.00000001e-10 0.50000000002500000033",
            "SIGMOID 20 0.99999999793884638181",
            "SOFTPLUS -100 3.720075976020835963e-44",
            "SOFTPLUS -20 2.0611536203143807032e-9",
            "SOFTPLUS 0.100000001 0.74439666085585084471",
            "SOFTPLUS 20 20.00000000206115362",
            "MISH -90 -7.3746113615914638873e-38",
            "MISH -20 -4.1223072406287614006e-8",
            "MISH -1 -0.30340146137410891807",
            "MISH 0.5 0.37524521130489510482",
            "MISH 10 9.9999999587806704305");

    @Test
    void referenceIsRightToFifteenDigits() {
        for (String line : EXACT) {
            String[] words = line.split(" ");
            Unary op = Unary.of(UnaryFn.valueOf(words[0]));
            double exact = Double.parseDouble(words[2]);
            double actual = op.apply(Float.parseFloat(words[1]));
            // e^v multiplies the relative error of its argument, which is rounded here, by v
            double relative = op.fn() == UnaryFn.GELU_TANH ? 5e-14 : 2e-15;
            assertThat(actual).as(line).isCloseTo(exact, within(relative * Math.abs(exact)));
        }
    }

    @TestFactory
    Stream<DynamicTest> interpreterIsWithinTheBounds() {
        return Stream.of(DType.F32, DType.F16, DType.BF16)
                .flatMap(dtype -> UnarySweep.functions().stream()
                        .map(op -> DynamicTest.dynamicTest(dtype + " " + op, () -> interpret(op, dtype))));
    }

    private static void interpret(Unary op, DType dtype) {
        double[] x = UnarySweep.arguments(dtype);
        NdArray y = op.evaluate(List.of(NdArray.of(TensorType.of(dtype, x.length), x)))
                .getFirst();
        for (int i = 0; i < x.length; i++) {
            UnaryAccuracy.check(op, dtype, x[i], Tolerance.rounded(dtype, y.get(i)));
        }
    }

    @Test
    void sweepHasEveryFunctionOfFloats() {
        Set<UnaryFn> swept = EnumSet.noneOf(UnaryFn.class);
        UnarySweep.functions().forEach(op -> swept.add(op.fn()));
        Set<UnaryFn> others = EnumSet.complementOf(EnumSet.copyOf(swept));
        assertThat(others).containsExactlyInAnyOrder(UnaryFn.NOT, UnaryFn.BIT_NOT, UnaryFn.IS_NAN, UnaryFn.IS_INF);
    }

    @Test
    void sweepHasEveryExponentAndTheSpecialNumbers() {
        Set<Integer> exponents = new java.util.HashSet<>();
        List<Integer> bits = new ArrayList<>();
        for (double x : UnarySweep.arguments(DType.F32)) {
            bits.add(Float.floatToRawIntBits((float) x));
            exponents.add(Float.floatToRawIntBits((float) x) >>> 23);
        }
        assertThat(exponents).hasSize(512);
        assertThat(bits).contains(0, 1 << 31, 0x7F800000, 0xFF800000, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF);
        assertThat(Arrays.stream(UnarySweep.arguments(DType.BF16)).distinct().count())
                .isGreaterThan(65_000);
    }

    @Test
    void errorIsCountedInUnitsOfTheResult() {
        assertThat(UnaryAccuracy.error(DType.F32, 1, Math.nextUp(1f))).isEqualTo(1);
        assertThat(UnaryAccuracy.error(DType.F32, 0x1p-149, 0)).isEqualTo(1);
        assertThat(UnaryAccuracy.error(DType.F32, 1e300, INF)).isZero();
        assertThat(UnaryAccuracy.error(DType.F32, 1e300, Float.MAX_VALUE)).isEqualTo(1);
        assertThat(UnaryAccuracy.error(DType.F32, -INF, INF)).isGreaterThan(1e6);
        assertThat(UnaryAccuracy.error(DType.F16, 65504, INF)).isEqualTo(1);
        assertThat(UnaryAccuracy.error(DType.F16, 0x1p-24, 0x1p-23)).isEqualTo(1);
        assertThat(UnaryAccuracy.error(DType.BF16, Double.NaN, 0)).isEqualTo(INF);
    }

    @Test
    void documentedTableIsTheStatedOne() throws IOException {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("docs/accuracy.md"))) {
            folder = Objects.requireNonNull(folder.getParent(), "no docs/accuracy.md around the working directory");
        }
        String page = Files.readString(folder.resolve("docs/accuracy.md"));
        for (UnaryFn fn : UnaryFn.values()) {
            String bound = UnaryAccuracy.bound(fn, DType.F32) + "";
            assertThat(page)
                    .as("docs/accuracy.md, " + fn)
                    .contains("| " + fn.word() + " | " + bound.replace(".0", "") + " |");
        }
    }
}
