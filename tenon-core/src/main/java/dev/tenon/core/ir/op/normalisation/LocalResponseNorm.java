package dev.tenon.core.ir.op.normalisation;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.reference.Summation;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * x / (bias + alpha/size * sum of squares over {@code size} neighbouring channels)^beta; the window of channel c is c -
 * (size-1)/2 to c + size/2 (both rounded down), cut off at the first and last channel.
 *
 * <p>[x [B,C,...]] → [y], of x's shape and float type. ONNX LRN-13.
 */
public record LocalResponseNorm(long size, double alpha, double beta, double bias) implements Primitive {
    public LocalResponseNorm {
        if (size < 1) {
            throw new ShapeException("local_response_norm: size is " + size + "; expected 1 or more channels");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.rankAtLeast(mnemonic(), "x", inputs.getFirst(), 2);
        return inputs;
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        NdArray y = Rules.result(this, inputs);
        int channels = SizeMath.toInt("local_response_norm", x.shape().size(1));
        Indexing.forEachLane(x.shape(), 1, (base, stride) -> {
            for (int channel = 0; channel < channels; channel++) {
                int from = (int) Math.max(0, channel - (size - 1) / 2);
                int to = (int) Math.min(channels - 1L, channel + size / 2);
                double squares = Summation.sum(to - from + 1, i -> {
                    double neighbour = x.get(base + (from + i) * stride);
                    return neighbour * neighbour;
                });
                int at = base + channel * stride;
                y.set(at, x.get(at) / Math.pow(bias + alpha / size * squares, beta));
            }
        });
        return List.of(y);
    }
}
