package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.op.random.Bernoulli;
import dev.tenon.core.ir.op.random.Multinomial;
import dev.tenon.core.ir.op.random.Random;
import dev.tenon.core.ir.op.random.RandomFn;
import dev.tenon.core.ir.op.random.RandomTo;
import dev.tenon.core.ir.op.random.Sample;
import dev.tenon.core.ir.op.signal.Dft;
import dev.tenon.core.ir.op.signal.DftBy;
import dev.tenon.core.ir.op.signal.MelWeights;
import dev.tenon.core.ir.op.signal.Stft;
import java.util.ArrayList;
import java.util.List;

/** Spectra and random numbers. */
final class OpCasesSignal {
    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(41);

    private OpCasesSignal() {}

    static List<OpCase> all() {
        OpCasesSignal all = new OpCasesSignal();
        all.transforms();
        all.frames();
        OpCases.FLOATS.forEach(all::numbers);
        all.draws();
        return List.copyOf(all.cases);
    }

    private static NdArray scalar(long value) {
        return OpCases.i64(new long[0], value);
    }

    private void transforms() {
        for (long length : new long[] {1, 2, 3, 4, 5, 7, 8, 12, 31, 32, 33, 97, 128, 1023, 1024}) {
            for (boolean inverse : List.of(false, true)) {
                Dft op = new Dft(1, length, inverse, false);
                String name = "dft " + length + (inverse ? " inverse" : "");
                cases.add(OpCase.sums(name, length, op, random.array(DType.F32, 2, length, 2)));
            }
            NdArray real = random.array(DType.F32, 1, length, 3, 1);
            cases.add(OpCase.sums("dft real " + length, length, new Dft(1, length, false, true), real));
            NdArray half = random.array(DType.F32, length / 2 + 1, 2, 2);
            cases.add(OpCase.sums("dft real inverse " + length, length, new Dft(0, length, true, true), half));
        }
        for (DType type : OpCases.FLOATS) {
            NdArray x = random.array(type, 3, 5, 2, 2);
            cases.add(OpCase.sums("dft padded " + type, 5, new Dft(1, 9, false, false), x));
            cases.add(OpCase.sums("dft cut " + type, 4, new Dft(0, 2, true, false), x));
            cases.add(OpCase.sums("dft_by " + type, 5, new DftBy(false, false, true), x, scalar(-3), scalar(7)));
        }
        // past a block's memory; large primes, alone and as factors; more transforms than a block has
        for (long length : new long[] {8192, 4096 * 3, 257, 131 * 6}) {
            cases.add(OpCase.sums(
                    "dft long " + length,
                    length,
                    new Dft(0, length, false, false),
                    random.array(DType.F32, length, 2)));
            NdArray half = random.array(DType.F64, 2, length / 2 + 1, 2);
            cases.add(OpCase.sums("dft long real inverse " + length, length, new Dft(1, length, true, true), half));
        }
        NdArray many = random.array(DType.F32, 67, 8, 5, 2);
        cases.add(OpCase.sums("dft many", 8, new Dft(1, 8, false, false), many));
        cases.add(OpCase.sums("dft many inverse", 6, new Dft(1, 6, true, false), many));
        NdArray bad = OpCases.f32(new long[] {2, 3, 1}, 1, Double.NaN, 2, 1, 2, 3);
        cases.add(OpCase.sums("dft NaN in one row", 3, new Dft(1, 3, false, false), bad));
        cases.add(OpCase.sums("dft of no rows", 1, new Dft(1, 4, false, false), NdArray.zeros(DType.F32, 0, 4, 2)));
        cases.add(OpCase.sums("dft of nothing", 1, new Dft(0, 4, false, false), NdArray.zeros(DType.F32, 0, 2)));
        NdArray half = random.array(DType.F32, 5, 2);
        cases.add(OpCase.sums("dft_by natural inverse", 8, new DftBy(true, true, false), half, scalar(0)));
    }

    private void frames() {
        NdArray signal = random.array(DType.F32, 2, 37, 1);
        NdArray window = random.array(DType.F32, 9);
        cases.add(OpCase.sums("stft window", 9, new Stft(true, false, true), signal, scalar(4), window));
        cases.add(OpCase.sums("stft both", 9, new Stft(true, true, false), signal, scalar(1), window, scalar(9)));
        NdArray complex = random.array(DType.F32, 1, 16, 2);
        cases.add(OpCase.sums("stft whole", 16, new Stft(false, true, false), complex, scalar(16), scalar(16)));
        cases.add(OpCase.close(
                "mel_weights",
                new MelWeights(DType.F32),
                scalar(8),
                scalar(16),
                scalar(8192),
                OpCases.f32(new long[0], 0),
                OpCases.f32(new long[] {1}, 4096)));
    }

    private void numbers(DType type) {
        for (long size : new long[] {0, 1, 3, 4, 31, 1023}) {
            Random uniform = new Random(RandomFn.UNIFORM, type, List.of(size), -1, 2, 7, false);
            cases.add(OpCase.close("random uniform " + type + " " + size, uniform));
        }
        Random normal = new Random(RandomFn.NORMAL, type, List.of(3L, 5L), 1, 0.5, -1, true);
        cases.add(OpCase.close("random normal " + type, normal, scalar(3)));
        Random many = new Random(RandomFn.NORMAL, type, List.of(2051L), 0, 1, 9, false);
        cases.add(OpCase.close("random normal many " + type, many));
        RandomTo sized = new RandomTo(RandomFn.NORMAL, type, 0, 1, 5);
        cases.add(OpCase.close("random_to " + type, sized, NdArray.ofLongs(2, 0, 3)));
        cases.add(OpCase.close("random_to scalar " + type, sized, NdArray.zeros(DType.I64, 0)));
        cases.add(OpCase.exact("bernoulli " + type, new Bernoulli(DType.BOOL, 3), random.floats(type, 0.0625, 1, 33)));
        cases.add(OpCase.exact(
                "multinomial " + type, new Multinomial(17, DType.I32, 3), random.floats(type, -4, 1, 3, 11)));
    }

    private void draws() {
        for (DType type : OpCases.FLOATS) {
            NdArray logits = random.floats(type, -6, 6, 5, 101);
            sample(type + " greedy", logits, 0, 0, 1, 0);
            sample(type + " plain", logits, 1, 0, 1, 0);
            sample(type + " top k", logits, 0.75, 7, 1, 0);
            sample(type + " top p", logits, 1.5, 0, 0.75, 0);
            sample(type + " all", logits, 1.25, 40, 0.875, 0.0625);
        }
        NdArray odd = OpCases.f32(
                new long[] {3, 3},
                Double.NEGATIVE_INFINITY,
                0,
                Double.NEGATIVE_INFINITY,
                Double.POSITIVE_INFINITY,
                0,
                1,
                Double.NEGATIVE_INFINITY,
                Double.NEGATIVE_INFINITY,
                Double.NEGATIVE_INFINITY);
        NdArray ties = random.integers(DType.F32, 0, 3, 3, 1003);
        for (int k : new int[] {1, 100, 700, 1002}) {
            sample("ties, top " + k, ties, 1, k, 1, 0);
            sample("ties, top " + k + " and p", ties, 2, k, 0.625, 0);
        }
        sample("ties, top p", ties, 1, 0, 0.25, 0);
        sample("ties, top p 0", ties, 1, 0, 0, 0);
        sample("many tokens", random.floats(DType.F32, -4, 4, 2, 20_011), 0.75, 5000, 0.9375, 0.001953125);
        sample("infinities", odd, 1, 2, 0.5, 0.5);
        sample("one token", random.array(DType.F32, 3, 1), 1, 1, 0.5, 1);
        sample("no rows", NdArray.zeros(DType.F32, 0, 4), 1, 1, 0.5, 1);
    }

    private void sample(String name, NdArray logits, double temperature, long topK, double topP, double minP) {
        cases.add(OpCase.exact(
                "sample " + name,
                new Sample(),
                logits,
                OpCases.f32(new long[0], temperature),
                scalar(topK),
                OpCases.f32(new long[0], topP),
                OpCases.f32(new long[0], minP),
                scalar(1234),
                scalar(5)));
    }
}
