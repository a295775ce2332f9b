package dev.tenon.core.build;

import static dev.tenon.core.build.WordRun.between;
import static dev.tenon.core.build.WordRun.booleans;
import static dev.tenon.core.build.WordRun.check;
import static dev.tenon.core.build.WordRun.of;
import static dev.tenon.core.build.WordRun.run;
import static dev.tenon.core.build.WordRun.sizes;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.UnaryFn;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Words that work element by element, against {@link Math}. */
class ElementwiseWordsTest {
    private interface One extends BiFunction<GraphBuilder, Value, Value> {}

    private interface Two {
        Value apply(GraphBuilder g, Value a, Value b);
    }

    private record Unary(String name, One word, double from, double to, DoubleUnaryOperator meaning) {}

    private record Binary(String name, Two word, double from, double to, DoubleBinaryOperator meaning) {}

    private static double sigmoid(double x) {
        return 1 / (1 + Math.exp(-x));
    }

    /** The series, which converges fast enough below 4. */
    private static double erf(double x) {
        double term = x;
        double sum = x;
        for (int n = 1; n < 120; n++) {
            term *= -x * x / n;
            sum += term / (2 * n + 1);
        }
        return 2 / Math.sqrt(Math.PI) * sum;
    }

    private static Unary of1(String name, One word, DoubleUnaryOperator meaning) {
        return new Unary(name, word, -3, 3, meaning);
    }

    private static Unary positive(String name, One word, DoubleUnaryOperator meaning) {
        return new Unary(name, word, 0.1, 3, meaning);
    }

    private static Unary inside(String name, One word, DoubleUnaryOperator meaning) {
        return new Unary(name, word, -0.95, 0.95, meaning);
    }

    private static Stream<Unary> functions() {
        return Stream.of(
                of1("neg", GraphBuilder::neg, x -> -x),
                of1("abs", GraphBuilder::abs, Math::abs),
                of1("sign", GraphBuilder::sign, Math::signum),
                positive("sqrt", GraphBuilder::sqrt, Math::sqrt),
                positive("rsqrt", GraphBuilder::rsqrt, x -> 1 / Math.sqrt(x)),
                of1("reciprocal", GraphBuilder::reciprocal, x -> 1 / x),
                of1("exp", GraphBuilder::exp, Math::exp),
                of1("exp2", GraphBuilder::exp2, x -> Math.pow(2, x)),
                of1("expm1", GraphBuilder::expm1, Math::expm1),
                positive("log", GraphBuilder::log, Math::log),
                positive("log2", GraphBuilder::log2, x -> Math.log(x) / Math.log(2)),
                inside("log1p", GraphBuilder::log1p, Math::log1p),
                of1("sin", GraphBuilder::sin, Math::sin),
                of1("cos", GraphBuilder::cos, Math::cos),
                inside("tan", GraphBuilder::tan, Math::tan),
                inside("asin", GraphBuilder::asin, Math::asin),
                inside("acos", GraphBuilder::acos, Math::acos),
                of1("atan", GraphBuilder::atan, Math::atan),
                of1("sinh", GraphBuilder::sinh, Math::sinh),
                of1("cosh", GraphBuilder::cosh, Math::cosh),
                of1("tanh", GraphBuilder::tanh, Math::tanh),
                of1("asinh", GraphBuilder::asinh, x -> Math.log(x + Math.sqrt(x * x + 1))),
                new Unary("acosh", GraphBuilder::acosh, 1.5, 3, x -> Math.log(x + Math.sqrt(x * x - 1))),
                inside("atanh", GraphBuilder::atanh, x -> Math.log((1 + x) / (1 - x)) / 2),
                of1("erf", GraphBuilder::erf, ElementwiseWordsTest::erf),
                of1("floor", GraphBuilder::floor, Math::floor),
                of1("ceil", GraphBuilder::ceil, Math::ceil),
                of1("round", GraphBuilder::round, Math::rint),
                of1("trunc", GraphBuilder::trunc, x -> x < 0 ? Math.ceil(x) : Math.floor(x)),
                of1("unary", (g, x) -> g.unary(UnaryFn.EXP, x), Math::exp));
    }

    private static Stream<Unary> activations() {
        return Stream.of(
                of1("relu", GraphBuilder::relu, x -> Math.max(x, 0)),
                of1("leakyRelu", (g, x) -> g.leakyRelu(x, 0.1), x -> x < 0 ? 0.1 * x : x),
                of1("gelu", GraphBuilder::gelu, x -> x / 2 * (1 + erf(x / Math.sqrt(2)))),
                of1(
                        "geluTanh",
                        GraphBuilder::geluTanh,
                        x -> x / 2 * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)))),
                of1("silu", GraphBuilder::silu, x -> x * sigmoid(x)),
                of1("sigmoid", GraphBuilder::sigmoid, ElementwiseWordsTest::sigmoid),
                of1("hardSigmoid", (g, x) -> g.hardSigmoid(x, 0.2, 0.5), x -> Math.clamp(0.2 * x + 0.5, 0.0, 1.0)),
                of1("hardSwish", GraphBuilder::hardSwish, x -> x * Math.clamp(x / 6 + 0.5, 0.0, 1.0)),
                of1("softplus", GraphBuilder::softplus, x -> Math.log1p(Math.exp(x))),
                of1("softsign", GraphBuilder::softsign, x -> x / (1 + Math.abs(x))),
                of1("elu", (g, x) -> g.elu(x, 0.7), x -> x < 0 ? 0.7 * Math.expm1(x) : x),
                of1(
                        "selu",
                        GraphBuilder::selu,
                        x -> 1.0507009873554805 * (x < 0 ? 1.6732632423543772 * Math.expm1(x) : x)),
                of1("celu", (g, x) -> g.celu(x, 0.7), x -> x < 0 ? 0.7 * Math.expm1(x / 0.7) : x),
                of1("mish", GraphBuilder::mish, x -> x * Math.tanh(Math.log1p(Math.exp(x)))),
                of1("clip", (g, x) -> g.clip(x, -1, 0.5), x -> Math.clamp(x, -1.0, 0.5)),
                of1("add a number", (g, x) -> g.add(x, 2), x -> x + 2),
                of1("sub a number", (g, x) -> g.sub(x, 2), x -> x - 2),
                of1("mul by a number", (g, x) -> g.mul(x, 2.5), x -> x * 2.5),
                of1("div by a number", (g, x) -> g.div(x, 4), x -> x / 4),
                positive("pow of a number", (g, x) -> g.pow(x, 1.5), x -> Math.pow(x, 1.5)));
    }

    @TestFactory
    Stream<DynamicTest> wordsOfOneOperand() {
        return Stream.concat(functions(), activations())
                .map(each -> DynamicTest.dynamicTest(each.name(), () -> {
                    NdArray x = between(each.from(), each.to(), 3, 40);
                    check(
                            run((g, in) -> each.word().apply(g, in.getFirst()), x),
                            sizes(3, 40),
                            i -> each.meaning().applyAsDouble(x.get(i)));
                }));
    }

    private static Stream<Binary> pairs() {
        return Stream.of(
                new Binary("add", GraphBuilder::add, -2, 2, Double::sum),
                new Binary("sub", GraphBuilder::sub, -2, 2, (a, b) -> a - b),
                new Binary("mul", GraphBuilder::mul, -2, 2, (a, b) -> a * b),
                new Binary("div", GraphBuilder::div, -2, 2, (a, b) -> a / b),
                new Binary("pow", GraphBuilder::pow, 0.1, 2, Math::pow),
                new Binary("floorDiv", GraphBuilder::floorDiv, -9, 9, (a, b) -> Math.floor(a / b)),
                new Binary("mod", GraphBuilder::mod, -9, 9, (a, b) -> a - b * Math.floor(a / b)),
                new Binary("fmod", GraphBuilder::fmod, -9, 9, (a, b) -> a % b),
                new Binary("atan2", GraphBuilder::atan2, -2, 2, Math::atan2),
                new Binary("min", GraphBuilder::min, -2, 2, Math::min),
                new Binary("max", GraphBuilder::max, -2, 2, Math::max),
                new Binary("prelu", GraphBuilder::prelu, -2, 2, (a, b) -> a < 0 ? a * b : a),
                new Binary("binary", (g, a, b) -> g.binary(BinaryFn.SUB, a, b), -2, 2, (a, b) -> a - b),
                new Binary("equal", GraphBuilder::equal, 0, 3, (a, b) -> a == b ? 1 : 0),
                new Binary("notEqual", GraphBuilder::notEqual, 0, 3, (a, b) -> a != b ? 1 : 0),
                new Binary("less", GraphBuilder::less, 0, 3, (a, b) -> a < b ? 1 : 0),
                new Binary("lessEqual", GraphBuilder::lessEqual, 0, 3, (a, b) -> a <= b ? 1 : 0),
                new Binary("greater", GraphBuilder::greater, 0, 3, (a, b) -> a > b ? 1 : 0),
                new Binary("greaterEqual", GraphBuilder::greaterEqual, 0, 3, (a, b) -> a >= b ? 1 : 0),
                new Binary("compare", (g, a, b) -> g.compare(CompareFn.LT, a, b), 0, 3, (a, b) -> a < b ? 1 : 0));
    }

    @TestFactory
    Stream<DynamicTest> wordsOfTwoOperandsBroadcast() {
        return pairs().map(each -> DynamicTest.dynamicTest(each.name(), () -> {
            boolean whole = each.from() == 0; // comparisons want equal numbers among them
            NdArray a = between(each.from(), each.to(), 4, 5);
            NdArray b = between(each.from(), each.to(), 5);
            for (int i = 0; whole && i < a.size(); i++) {
                a.set(i, Math.floor(a.get(i)));
                b.set(i % 5, Math.floor(b.get(i % 5)));
            }
            check(
                    run((g, in) -> each.word().apply(g, in.get(0), in.get(1)), a, b),
                    sizes(4, 5),
                    i -> each.meaning().applyAsDouble(a.get(i), b.get(i % 5)));
        }));
    }

    @Test
    void logicOfBooleans() {
        NdArray a = booleans(sizes(4), 0, 0, 1, 1);
        NdArray b = booleans(sizes(4), 0, 1, 0, 1);
        Map<String, Two> words = Map.of("0001", GraphBuilder::and, "0111", GraphBuilder::or, "0110", GraphBuilder::xor);
        words.forEach((expected, word) -> check(
                run((g, in) -> word.apply(g, in.get(0), in.get(1)), a, b), sizes(4), i -> expected.charAt(i) - '0'));
        check(run((g, in) -> g.not(in.getFirst()), a), sizes(4), 1, 1, 0, 0);
    }

    @Test
    void nanAndInfinitiesAreTold() {
        NdArray x = of(sizes(4), Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 1);
        check(run((g, in) -> g.isNan(in.getFirst()), x), sizes(4), 1, 0, 0, 0);
        check(run((g, in) -> g.isInf(in.getFirst()), x), sizes(4), 0, 1, 1, 0);
    }

    @Test
    void whereChoosesByACondition() {
        NdArray condition = booleans(sizes(3), 1, 0, 1);
        NdArray a = of(sizes(2, 3), 1, 2, 3, 4, 5, 6);
        NdArray b = of(sizes(1), -1);
        check(
                run((g, in) -> g.where(in.get(0), in.get(1), in.get(2)), condition, a, b),
                sizes(2, 3),
                1,
                -1,
                3,
                4,
                -1,
                6);
    }

    @Test
    void castTruncatesToIntegers() {
        NdArray cast = run((g, in) -> g.cast(in.getFirst(), DType.I32), of(sizes(3), 1.7, -1.7, 3));
        check(cast, sizes(3), 1, -1, 3);
        org.assertj.core.api.Assertions.assertThat(cast.dtype()).isEqualTo(DType.I32);
    }

    @Test
    void integersRefuseAFractionAsOtherOperand() {
        assertThatThrownBy(() -> run((g, in) -> g.mul(in.getFirst(), 0.5), WordRun.longs(sizes(2), 1, 2)))
                .isInstanceOf(DTypeException.class)
                .hasMessageContaining("mul: 0.5 is not a number of type i64");
        check(run((g, in) -> g.mul(in.getFirst(), 3), WordRun.longs(sizes(2), 1, 2)), sizes(2), 3, 6);
    }
}
