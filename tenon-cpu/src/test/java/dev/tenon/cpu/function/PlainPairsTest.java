package dev.tenon.cpu.function;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.fn.BinaryFn;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Functions of two floats against their definition in float64: every pair of special numbers, and drawn ones. */
class PlainPairsTest {
    private static final float[] SPECIAL = {
        0,
        -0f,
        1,
        -1,
        2,
        -2,
        3,
        0.5f,
        -0.5f,
        0.1f,
        1e-45f,
        -1e-45f,
        1e-38f,
        1e38f,
        -1e38f,
        Float.MAX_VALUE,
        -Float.MAX_VALUE,
        Float.POSITIVE_INFINITY,
        Float.NEGATIVE_INFINITY,
        Float.NaN,
        0.99999994f,
        1.0000001f,
        16_777_216,
        4e9f
    };

    /** A loop over pairs. */
    @FunctionalInterface
    private interface Loop {
        void run(float[] a, float[] b, float[] y, int n);
    }

    private static final Map<BinaryFn, Loop> LOOPS = Map.of(
            BinaryFn.FLOOR_DIV, PlainPairs::floorDivide,
            BinaryFn.MOD, PlainPairs::mod,
            BinaryFn.FMOD, PlainPairs::fmod,
            BinaryFn.POW, PlainPairs::pow,
            BinaryFn.ATAN2, PlainPairs::atan2);

    private static void check(float[] a, float[] b) {
        float[] y = new float[a.length];
        LOOPS.forEach((fn, loop) -> {
            loop.run(a, b, y, a.length);
            for (int j = 0; j < a.length; j++) {
                float wanted = (float) fn.apply(a[j], b[j]);
                boolean near = Float.isNaN(wanted)
                        ? Float.isNaN(y[j])
                        : y[j] == wanted && Math.copySign(1, y[j]) == Math.copySign(1, wanted)
                                || Math.abs((double) y[j] - wanted) <= Math.ulp(wanted);
                boolean exact = fn == BinaryFn.POW || fn == BinaryFn.ATAN2 || Float.compare(y[j], wanted) == 0;
                assertThat(near && exact)
                        .as("%s of %s and %s is %s; expected %s", fn, a[j], b[j], y[j], wanted)
                        .isTrue();
            }
        });
    }

    @Test
    void specialNumbers() {
        int n = SPECIAL.length;
        float[] a = new float[n * n];
        float[] b = new float[n * n];
        for (int i = 0; i < n * n; i++) {
            a[i] = SPECIAL[i / n];
            b[i] = SPECIAL[i % n];
        }
        check(a, b);
    }

    @Test
    void drawnNumbers() {
        Random random = new Random(23);
        for (int round = 0; round < 100; round++) {
            float[] a = new float[1000];
            float[] b = new float[1000];
            float spread = (float) Math.scalb(1.0, random.nextInt(60) - 30);
            for (int i = 0; i < a.length; i++) {
                a[i] = round % 2 == 0 ? (float) random.nextGaussian() * spread : Float.intBitsToFloat(random.nextInt());
                b[i] = round % 3 == 0
                        ? random.nextInt(41) - 20
                        : round % 3 == 1 ? (float) random.nextGaussian() : Float.intBitsToFloat(random.nextInt());
            }
            check(a, b);
        }
    }
}
