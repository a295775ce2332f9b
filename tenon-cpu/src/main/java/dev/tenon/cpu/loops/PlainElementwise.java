package dev.tenon.cpu.loops;

import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.function.PlainLogarithms;
import dev.tenon.cpu.function.PlainPairs;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Plain loops over elements: a block is copied to arrays, worked on, and copied back. */
final class PlainElementwise {
    private static final int BLOCK = PlainBuffers.BLOCK;
    /** Fewer elements are filled one by one. */
    private static final int BRIEF = 16;

    private PlainElementwise() {}

    static void unary(Unary op, MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        PlainBuffers of = PlainBuffers.get();
        for (int at = 0; at < n; at += BLOCK) {
            int count = Math.min(BLOCK, n - at);
            PlainBuffers.load(x, xOffset + 4L * at, of.x, count);
            run(op, of, count);
            PlainBuffers.store(of.y, y, yOffset + 4L * at, count);
        }
    }

    private static void run(Unary op, PlainBuffers of, int n) {
        float alpha = (float) op.alpha();
        float beta = (float) op.beta();
        switch (op.fn()) {
            case EXP -> PlainExponentials.exp(of, n);
            case SIGMOID -> PlainExponentials.sigmoid(of, n);
            case GELU -> PlainExponentials.gelu(of, n);
            case GELU_TANH -> PlainExponentials.geluTanh(of, n);
            case TANH -> PlainExponentials.tanh(of, 1, 1, n);
            case SCALED_TANH -> PlainExponentials.tanh(of, alpha, beta, n);
            case SILU -> {
                if (alpha > 0x1p-30f) {
                    PlainExponentials.silu(of, alpha, n);
                } else {
                    byDefinition(op, of.x, of.y, n);
                }
            }
            case NEG -> negate(of.x, of.y, n);
            case ABS -> absolute(of.x, of.y, n);
            case SQRT -> root(of.x, of.y, n);
            case RECIPROCAL -> reciprocal(of.x, of.y, n);
            case LEAKY_RELU -> leakyRelu(of.x, of.y, alpha, n);
            case RELU -> clip(of.x, of.y, 0, Float.POSITIVE_INFINITY, n);
            case CLIP -> clip(of.x, of.y, alpha, beta, n);
            case AFFINE -> affine(of.x, of.y, alpha, beta, n);
            case HARD_SIGMOID -> hardSigmoid(of.x, of.y, alpha, beta, n);
            case HARD_SWISH -> hardSwish(of.x, of.y, n);
            case FLOOR -> floor(of.x, of.y, n);
            case CEIL -> ceil(of.x, of.y, n);
            case ROUND -> round(of.x, of.y, n);
            case TRUNC -> truncate(of.x, of.y, n);
            case SOFTSIGN -> softsign(of.x, of.y, n);
            case SIGN -> sign(of.x, of.y, n);
            case SHRINK -> shrink(of.x, of.y, alpha, beta, n);
            case THRESHOLDED_RELU -> threshold(of.x, of.y, alpha, n);
            case LOG2 -> PlainLogarithms.log2(of.x, of.y, n);
            case ASINH -> PlainLogarithms.asinh(of.x, of.y, n);
            case ACOSH -> PlainLogarithms.acosh(of.x, of.y, n);
            case ATANH -> PlainLogarithms.atanh(of.x, of.y, n);
            default -> byDefinition(op, of.x, of.y, n);
        }
    }

    /** Whether a function has a loop here; the others go by their definition. */
    static boolean has(UnaryFn fn) {
        return switch (fn) {
            case EXP,
                    SIGMOID,
                    GELU,
                    GELU_TANH,
                    TANH,
                    SCALED_TANH,
                    SILU,
                    NEG,
                    ABS,
                    SQRT,
                    RECIPROCAL,
                    LEAKY_RELU,
                    RELU,
                    CLIP,
                    AFFINE,
                    HARD_SIGMOID,
                    HARD_SWISH,
                    FLOOR,
                    CEIL,
                    ROUND,
                    TRUNC,
                    SIGN,
                    SOFTSIGN,
                    SHRINK,
                    THRESHOLDED_RELU,
                    LOG2,
                    ASINH,
                    ACOSH,
                    ATANH -> true;
            default -> false;
        };
    }

    private static void negate(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = -x[j];
        }
    }

    private static void absolute(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = Math.abs(x[j]);
        }
    }

    private static void root(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = (float) Math.sqrt(x[j]);
        }
    }

    private static void reciprocal(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = 1 / x[j];
        }
    }

    /** As {@link VectorUnary} has it: of -infinity and a factor of 0 it is -0. */
    private static void leakyRelu(float[] x, float[] y, float alpha, int n) {
        float limit = alpha == 0 ? -0f : Float.NEGATIVE_INFINITY * alpha;
        for (int j = 0; j < n; j++) {
            float v = x[j];
            float scaled = v == Float.NEGATIVE_INFINITY ? limit : v * alpha;
            y[j] = v < 0 ? scaled : v;
        }
    }

    /** In float64, rounded once. */
    private static void byDefinition(Unary op, float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = (float) op.apply(x[j]);
        }
    }

    private static void clip(float[] x, float[] y, float low, float high, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = Math.min(Math.max(x[j], low), high);
        }
    }

    private static void affine(float[] x, float[] y, float factor, float addend, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = Math.fma(x[j], factor, addend);
        }
    }

    private static void hardSigmoid(float[] x, float[] y, float alpha, float beta, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = Math.max(Math.min(Math.fma(x[j], alpha, beta), 1), 0);
        }
    }

    /** x + 3 is exact near -3, where x/6 + 1/2 cancels; and from -3 on down the result is 0. */
    private static void hardSwish(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            float v = Math.max(x[j], -3);
            y[j] = v * (Math.min(v + 3, 6) * (1f / 6));
        }
    }

    private static void floor(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = (float) Math.floor(x[j]);
        }
    }

    private static void ceil(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = (float) Math.ceil(x[j]);
        }
    }

    private static void round(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = (float) Math.rint(x[j]);
        }
    }

    private static void truncate(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = Math.copySign((float) Math.floor(Math.abs(x[j])), x[j]);
        }
    }

    private static void sign(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = Math.signum(x[j]);
        }
    }

    /** The largest number over one more than itself is 1, as infinity has it. */
    private static void softsign(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            float v = Math.max(Math.min(x[j], Float.MAX_VALUE), -Float.MAX_VALUE);
            y[j] = v / (1 + Math.abs(v));
        }
    }

    private static void shrink(float[] x, float[] y, float alpha, float beta, int n) {
        for (int j = 0; j < n; j++) {
            float v = x[j];
            float inside = Float.isNaN(v) ? v : 0;
            y[j] = v < -alpha ? v + beta : v > alpha ? v - beta : inside;
        }
    }

    private static void threshold(float[] x, float[] y, float alpha, int n) {
        for (int j = 0; j < n; j++) {
            float v = x[j];
            y[j] = v <= alpha ? 0 : v;
        }
    }

    static void affine(
            MemorySegment x, long xOffset, MemorySegment y, long yOffset, float factor, float addend, int n) {
        PlainBuffers of = PlainBuffers.get();
        for (int at = 0; at < n; at += BLOCK) {
            int count = Math.min(BLOCK, n - at);
            PlainBuffers.load(x, xOffset + 4L * at, of.x, count);
            affine(of.x, of.y, factor, addend, count);
            PlainBuffers.store(of.y, y, yOffset + 4L * at, count);
        }
    }

    static void binary(
            BinaryFn fn,
            MemorySegment a,
            long aOffset,
            MemorySegment b,
            long bOffset,
            MemorySegment y,
            long yOffset,
            int n) {
        PlainBuffers of = PlainBuffers.get();
        for (int at = 0; at < n; at += BLOCK) {
            int count = Math.min(BLOCK, n - at);
            PlainBuffers.load(a, aOffset + 4L * at, of.x, count);
            PlainBuffers.load(b, bOffset + 4L * at, of.v, count);
            run(fn, of.x, of.v, of.y, count);
            PlainBuffers.store(of.y, y, yOffset + 4L * at, count);
        }
    }

    private static void run(BinaryFn fn, float[] a, float[] b, float[] y, int n) {
        switch (fn) {
            case ADD -> add(a, b, y, n);
            case SUB -> subtract(a, b, y, n);
            case MUL -> multiply(a, b, y, n);
            case DIV -> divide(a, b, y, n);
            case MAX -> max(a, b, y, n);
            case MIN -> min(a, b, y, n);
            case PRELU -> parametricRelu(a, b, y, n);
            case FLOOR_DIV -> PlainPairs.floorDivide(a, b, y, n);
            case MOD -> PlainPairs.mod(a, b, y, n);
            case FMOD -> PlainPairs.fmod(a, b, y, n);
            case POW -> PlainPairs.pow(a, b, y, n);
            case ATAN2 -> PlainPairs.atan2(a, b, y, n);
            case AND, OR, XOR, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR ->
                throw new IllegalArgumentException(fn + " takes no floats");
        }
    }

    private static void parametricRelu(float[] a, float[] b, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = a[j] >= 0 ? a[j] : b[j] * a[j];
        }
    }

    private static void add(float[] a, float[] b, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = a[j] + b[j];
        }
    }

    private static void subtract(float[] a, float[] b, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = a[j] - b[j];
        }
    }

    private static void multiply(float[] a, float[] b, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = a[j] * b[j];
        }
    }

    private static void divide(float[] a, float[] b, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = a[j] / b[j];
        }
    }

    private static void max(float[] a, float[] b, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = Math.max(a[j], b[j]);
        }
    }

    private static void min(float[] a, float[] b, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = Math.min(a[j], b[j]);
        }
    }

    /** See {@link Loops#compare}. */
    static void compare(
            CompareFn fn,
            MemorySegment a,
            long aOffset,
            MemorySegment b,
            long bOffset,
            MemorySegment y,
            long yOffset,
            int n) {
        PlainBuffers of = PlainBuffers.get();
        for (int at = 0; at < n; at += BLOCK) {
            int count = Math.min(BLOCK, n - at);
            PlainBuffers.load(a, aOffset + 4L * at, of.x, count);
            PlainBuffers.load(b, bOffset + 4L * at, of.v, count);
            PlainCompare.run(fn, of.x, of.v, of.flags, count);
            MemorySegment.copy(of.flags, 0, y, ValueLayout.JAVA_BYTE, yOffset + at, count);
        }
    }

    /** See {@link Loops#select}. */
    static void select(Place condition, Place a, Place b, Place y, int n) {
        PlainBuffers of = PlainBuffers.get();
        for (int at = 0; at < n; at += BLOCK) {
            int count = Math.min(BLOCK, n - at);
            MemorySegment.copy(condition.memory(), ValueLayout.JAVA_BYTE, condition.offset() + at, of.flags, 0, count);
            PlainBuffers.loadBits(a.memory(), a.offset() + 4L * at, of.bits, count);
            PlainBuffers.loadBits(b.memory(), b.offset() + 4L * at, of.others, count);
            select(of.flags, of.bits, of.others, count);
            MemorySegment.copy(of.bits, 0, y.memory(), Convert.I32, y.offset() + 4L * at, count);
        }
    }

    /** Where the flag is zero, the bits become the others. */
    private static void select(byte[] flags, int[] bits, int[] others, int n) {
        for (int j = 0; j < n; j++) {
            int flag = flags[j];
            int chosen = (flag | -flag) >> 31; // all bits, or none
            bits[j] = others[j] ^ ((bits[j] ^ others[j]) & chosen);
        }
    }

    static void fill(MemorySegment y, long yOffset, float value, int n) {
        if (n < BRIEF) {
            for (int i = 0; i < n; i++) {
                y.set(Loops.F32, yOffset + 4L * i, value);
            }
            return;
        }
        PlainBuffers of = PlainBuffers.get();
        Arrays.fill(of.x, 0, Math.min(BLOCK, n), value);
        for (int at = 0; at < n; at += BLOCK) {
            PlainBuffers.store(of.x, y, yOffset + 4L * at, Math.min(BLOCK, n - at));
        }
    }
}
