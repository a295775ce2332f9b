package dev.tenon.core.build;

import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Unary;

/** Adds activations, element by element, of a float type. At an infinity each has its limit. */
public interface ActivationOps extends OpBuilder {
    /** Adds max(x, 0). */
    default Value relu(Value x) {
        return add(new Unary(UnaryFn.RELU, 0, 0), Words.operand("relu", "x", x));
    }

    /** Adds x where x >= 0, else alpha x. */
    default Value leakyRelu(Value x, double alpha) {
        return add(new Unary(UnaryFn.LEAKY_RELU, alpha, 0), Words.operand("leaky_relu", "x", x));
    }

    /** Adds x/2 (1 + erf(x / sqrt 2)), the exact GELU. */
    default Value gelu(Value x) {
        return add(new Unary(UnaryFn.GELU, 0, 0), Words.operand("gelu", "x", x));
    }

    /** Adds x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), the approximation of GELU that GPT-2 uses. */
    default Value geluTanh(Value x) {
        return add(new Unary(UnaryFn.GELU_TANH, 0, 0), Words.operand("gelu_tanh", "x", x));
    }

    /** Adds x sigmoid(x), also called swish. */
    default Value silu(Value x) {
        return add(new Unary(UnaryFn.SILU, 1, 0), Words.operand("silu", "x", x));
    }

    /** Adds 1 / (1 + e^-x). */
    default Value sigmoid(Value x) {
        return add(new Unary(UnaryFn.SIGMOID, 0, 0), Words.operand("sigmoid", "x", x));
    }

    /**
     * Adds max(0, min(1, alpha x + beta)); PyTorch has alpha 1/6 and beta 1/2, ONNX alpha 0.2 and beta 1/2 by default.
     */
    default Value hardSigmoid(Value x, double alpha, double beta) {
        return add(new Unary(UnaryFn.HARD_SIGMOID, alpha, beta), Words.operand("hard_sigmoid", "x", x));
    }

    /** Adds x max(0, min(1, x/6 + 1/2)). */
    default Value hardSwish(Value x) {
        return add(new Unary(UnaryFn.HARD_SWISH, 0, 0), Words.operand("hard_swish", "x", x));
    }

    /** Adds log(1 + e^x). */
    default Value softplus(Value x) {
        return add(new Unary(UnaryFn.SOFTPLUS, 0, 0), Words.operand("softplus", "x", x));
    }

    /** Adds x / (1 + |x|). */
    default Value softsign(Value x) {
        return add(new Unary(UnaryFn.SOFTSIGN, 0, 0), Words.operand("softsign", "x", x));
    }

    /** Adds x where x >= 0, else alpha (e^x - 1). */
    default Value elu(Value x, double alpha) {
        return add(new Unary(UnaryFn.ELU, alpha, 0), Words.operand("elu", "x", x));
    }

    /** Adds the self-normalising ELU: 1.0507 (x where x >= 0, else 1.6733 (e^x - 1)). */
    default Value selu(Value x) {
        return add(new Unary(UnaryFn.SELU, 1.6732632423543772, 1.0507009873554805), Words.operand("selu", "x", x));
    }

    /** Adds max(0, x) + min(0, alpha (e^(x/alpha) - 1)). */
    default Value celu(Value x, double alpha) {
        return add(new Unary(UnaryFn.CELU, alpha, 0), Words.operand("celu", "x", x));
    }

    /** Adds x tanh(softplus(x)). */
    default Value mish(Value x) {
        return add(new Unary(UnaryFn.MISH, 0, 0), Words.operand("mish", "x", x));
    }

    /** Adds min(max(x, min), max); NaN stays. */
    default Value clip(Value x, double min, double max) {
        return add(new Unary(UnaryFn.CLIP, min, max), Words.operand("clip", "x", x));
    }

    /** Adds x where x >= 0, else slope x; the slope broadcasts to x. */
    default Value prelu(Value x, Value slope) {
        return add(new Binary(BinaryFn.PRELU), Words.operands("prelu", "x slope", x, slope));
    }
}
