package dev.tenon.core.ir.op.normalisation;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * {@link LayerNorm} of each channel of each sample over the spatial dims, then scale and bias by channel.
 *
 * <p>[x [B,C,...], scale [C], bias [C]] → [y], of x's shape and float type, which scale and bias have too. ONNX
 * InstanceNormalization-22.
 */
public record InstanceNorm(double epsilon) implements Primitive {
    public InstanceNorm {
        Normalisation.epsilon("instance_norm", epsilon);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(3);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.rankAtLeast(mnemonic(), "x", x, 2);
        Rules.perChannel(mnemonic(), "scale", inputs.get(1), x);
        Rules.perChannel(mnemonic(), "bias", inputs.get(2), x);
        return List.of(x);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        NdArray y = Rules.result(this, inputs);
        int channels = SizeMath.toInt("instance_norm", x.shape().size(1));
        int size =
                SizeMath.toInt("instance_norm", x.shape().elements(2, x.shape().rank()));
        for (int base = 0; base < x.size(); base += size) {
            int channel = base / size % channels;
            Normalisation.standardise(x, y, base, size, epsilon);
            for (int i = 0; i < size; i++) {
                y.set(
                        base + i,
                        y.get(base + i) * inputs.get(1).get(channel)
                                + inputs.get(2).get(channel));
            }
        }
        return List.of(y);
    }
}
