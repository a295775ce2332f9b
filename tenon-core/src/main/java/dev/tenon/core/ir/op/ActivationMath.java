package dev.tenon.core.ir.op;

/** The one seam through which operations apply an activation inside of them. */
final class ActivationMath {
    private ActivationMath() {}

    static double apply(Unary activation, double x) {
        return switch (activation.fn()) {
            case RELU -> Double.isNaN(x) ? x : Math.max(x, 0);
            case SIGMOID -> 1 / (1 + Math.exp(-x));
            case TANH -> Math.tanh(x);
            case AFFINE -> activation.alpha() * x + activation.beta();
            default -> throw Unwritten.rule(activation);
        };
    }
}
