package dev.tenon.core.ir.op.signal;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Set;

/**
 * The matrix that turns a spectrum into mel bands: triangles, evenly spaced on the mel scale
 * {@code 2595 log10(1 + f / 700)}.
 *
 * <p>[bands i64, length of the transform i64, sample rate i64, lower edge float in Hz, upper edge float in Hz, each one
 * element] → [weights [length / 2 + 1,bands]]. Edges are rounded down to bins. ONNX MelWeightMatrix-17.
 */
public record MelWeights(DType dtype) implements Deferred {
    /** A larger matrix than any model has: its five numbers could ask for all memory. */
    private static final long MOST = 1 << 22;

    public MelWeights {
        Rules.require("mel_weights", "the result", dtype, DType::isNumeric, "a number type");
    }

    @Override
    public Arity arity() {
        return Arity.exactly(5);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        for (int i = 0; i < 5; i++) {
            if (i < 3) {
                Rules.counts(mnemonic(), "input " + i, inputs.get(i));
            } else {
                Expect.floating(mnemonic(), "input " + i, inputs.get(i));
            }
        }
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        for (int i = 0; i < 5; i++) {
            Rules.single(mnemonic(), "input " + i, inputs.get(i));
        }
        return List.of(Shape.unknown(2));
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(0, 1, 2, 3, 4);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        long bands = known.single(0);
        long length = known.single(1);
        long rate = known.single(2);
        double low = mel(known.value(3).get(0));
        double step = (mel(known.value(4).get(0)) - low) / (bands + 2);
        long bins = length / 2 + 1;
        Expect.shape(
                bands >= 1 && length >= 1 && rate >= 1 && bands <= MOST / bins && step >= 0,
                mnemonic(),
                () -> bands + " bands of a transform of " + length + " at " + rate + " Hz, edges "
                        + known.value(3).get(0) + " and " + known.value(4).get(0)
                        + "; expected positive numbers and ascending edges, and at most " + MOST + " weights");
        NdArray weights = NdArray.zeros(dtype, bins, bands);
        for (int band = 0; band < bands; band++) {
            long left = bin(low + band * step, length, rate);
            long middle = bin(low + (band + 1) * step, length, rate);
            long right = bin(low + (band + 2) * step, length, rate);
            Expect.shape(
                    left >= 0 && right <= bins,
                    mnemonic(),
                    () -> "a band ends at bin " + right + " of " + bins
                            + "; expected an upper edge of at most half the sample rate");
            set(weights, middle, band, left == middle ? 1 : 0);
            for (long i = left; left != middle && i <= middle; i++) {
                set(weights, i, band, (double) (i - left) / (middle - left));
            }
            for (long i = middle; i < right; i++) {
                set(weights, i, band, (double) (right - i) / (right - middle));
            }
        }
        return List.of(g.constant(weights.toConstant()));
    }

    private static void set(NdArray weights, long bin, int band, double value) {
        if (bin < weights.shape().size(0)) {
            weights.set(
                    SizeMath.toInt(
                            "mel_weights",
                            SizeMath.sum(
                                    "mel_weights",
                                    SizeMath.product(
                                            "mel_weights", bin, weights.shape().size(1)),
                                    band)),
                    value);
        }
    }

    private static double mel(double hertz) {
        return 2595 * Math.log10(1 + hertz / 700);
    }

    private static long bin(double mel, long length, long rate) {
        return (long) Math.floor((length + 1) * (700 * (Math.pow(10, mel / 2595) - 1)) / rate);
    }
}
