package dev.tenon.cpu.elementwise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.UnaryAccuracy;
import dev.tenon.core.ir.op.elementwise.UnarySweep;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Regions large enough for code of their own: every function within its bound, rows, single numbers, many values. */
class RegionStepTest {
    private static final int LARGE = (1 << 15) + 77;

    @TestFactory
    Stream<DynamicTest> functionsAreWithinTheirBounds() {
        return UnarySweep.functions().stream()
                .map(op -> DynamicTest.dynamicTest(op.toString(), () -> functionIsWithinItsBound(op)));
    }

    private static void functionIsWithinItsBound(Unary op) {
        double[] swept = UnarySweep.arguments(DType.F32);
        double[] x = new double[Math.max(LARGE, swept.length)];
        for (int i = 0; i < x.length; i++) {
            x[i] = swept[i % swept.length];
        }
        NdArray given = NdArray.of(TensorType.of(DType.F32, x.length), x);
        NdArray y = OneNode.of(op, given).threads(2).run().getFirst();
        for (int i = 0; i < x.length; i++) {
            UnaryAccuracy.check(op, DType.F32, x[i], y.get(i));
        }
    }

    private static NdArray numbers(int seed, long... sizes) {
        NdArray x = new Seeded(seed).floats(DType.F32, -3, 3, sizes);
        double[] special = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 0, -0.0};
        for (int i = 0; i < x.size(); i += 97) {
            x.set(i, special[i / 97 % special.length]);
        }
        return x;
    }

    /** max(0, ((x + row) y - scalar) / x), against the same in f32. */
    @Test
    void rowsAndSingleNumbers() {
        for (int inner : new int[] {16, 64, 67, 333, 4096}) {
            int rows = LARGE / inner + 1;
            NdArray x = numbers(1, rows, inner);
            NdArray y = numbers(2, rows, inner);
            NdArray row = numbers(3, inner);
            NdArray scalar = NdArray.of(TensorType.of(DType.F32), 0.75);
            Region region = new Region(
                    List.of(
                            new Region.Step(new Binary(BinaryFn.ADD), List.of(0, 2)),
                            new Region.Step(new Binary(BinaryFn.MUL), List.of(4, 1)),
                            new Region.Step(new Binary(BinaryFn.SUB), List.of(5, 3)),
                            new Region.Step(new Binary(BinaryFn.DIV), List.of(6, 0)),
                            new Region.Step(Unary.of(UnaryFn.RELU), List.of(7))),
                    List.of(4));
            NdArray found =
                    OneNode.of(region, x, y, row, scalar).threads(2).run().getFirst();
            for (int i = 0; i < x.size(); i++) {
                float sum = (float) x.get(i) + (float) row.get(i % inner);
                float wanted = Math.max((sum * (float) y.get(i) - 0.75f) / (float) x.get(i), 0f);
                if (Float.compare((float) found.get(i), wanted) != 0) {
                    throw new AssertionError(
                            "element " + i + " of rows of " + inner + " is " + found.get(i) + "; expected " + wanted);
                }
            }
        }
    }

    /** Short floats with rows and numbers of other types: all in f32, rounded once or where a cast says. */
    @Test
    void shortFloats() {
        for (DType dtype : List.of(DType.F16, DType.BF16)) {
            for (int inner : new int[] {64, 67, 333}) {
                int rows = LARGE / inner + 1;
                NdArray x = new Seeded(6).floats(dtype, -3, 3, rows, inner);
                NdArray row = new Seeded(7).floats(DType.F32, -3, 3, inner);
                NdArray scalar = NdArray.of(TensorType.of(dtype), 0.75);
                Region region = new Region(
                        List.of(
                                new Region.Step(new Cast(DType.F32, true), List.of(0)),
                                new Region.Step(new Binary(BinaryFn.ADD), List.of(3, 1)),
                                new Region.Step(new Cast(dtype, true), List.of(4)),
                                new Region.Step(new Binary(BinaryFn.MUL), List.of(5, 2))),
                        List.of(3));
                NdArray y = OneNode.of(region, x, row, scalar).threads(2).run().getFirst();
                for (int i = 0; i < x.size(); i++) {
                    double sum = rounded(dtype, (float) x.get(i) + (float) row.get(i % inner));
                    double wanted = rounded(dtype, (float) sum * 0.75f);
                    assertThat(y.get(i)).as("element " + i).isEqualTo(wanted);
                }
            }
        }
    }

    private static double rounded(DType dtype, double value) {
        return Elements.toDouble(dtype, Elements.fromDouble(dtype, value));
    }

    /** More values at once than there are registers: tiles serve them. */
    @Test
    void moreValuesThanRegisters() {
        NdArray x = new Seeded(4).floats(DType.F32, -1, 1, LARGE);
        List<Region.Step> steps = new ArrayList<>();
        int count = 30;
        for (int i = 0; i < count; i++) {
            steps.add(new Region.Step(new Binary(BinaryFn.ADD), List.of(i, 0)));
        }
        int last = count;
        for (int i = count - 1; i >= 0; i--) {
            steps.add(new Region.Step(new Binary(BinaryFn.ADD), List.of(last, i)));
            last = steps.size();
        }
        Region region = new Region(steps, List.of(steps.size() - 1));
        NdArray y = OneNode.of(region, x).run().getFirst();
        for (int i = 0; i < x.size(); i += 7) {
            double wanted = x.get(i) * (count + 1) * (count + 2) / 2;
            assertThat(y.get(i)).isCloseTo(wanted, within(1e-3));
        }
    }

    /** A function between others keeps what they need. */
    @Test
    void functionsBetweenOthers() {
        for (UnaryFn fn : List.of(UnaryFn.GELU, UnaryFn.SIGMOID, UnaryFn.TANH, UnaryFn.EXP)) {
            NdArray x = new Seeded(5).floats(DType.F32, -3, 3, LARGE);
            Region region = new Region(
                    List.of(
                            new Region.Step(new Binary(BinaryFn.MUL), List.of(0, 0)),
                            new Region.Step(Unary.of(fn), List.of(0)),
                            new Region.Step(new Binary(BinaryFn.ADD), List.of(2, 1)),
                            new Region.Step(new Binary(BinaryFn.SUB), List.of(3, 0))),
                    List.of(3));
            NdArray y = OneNode.of(region, x).run().getFirst();
            for (int i = 0; i < x.size(); i++) {
                double wanted = fn.apply(x.get(i), 0, 0) + x.get(i) * x.get(i) - x.get(i);
                assertThat(y.get(i)).isCloseTo(wanted, within(5e-6 * (1 + Math.abs(wanted))));
            }
        }
    }
}
