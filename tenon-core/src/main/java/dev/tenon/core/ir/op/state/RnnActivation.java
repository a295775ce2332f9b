package dev.tenon.core.ir.op.state;

import dev.tenon.core.ir.fn.UnaryFn;

/** A gate's activation with the parameters that its function takes. */
public record RnnActivation(UnaryFn fn, double alpha, double beta) {
    public static final RnnActivation SIGMOID = new RnnActivation(UnaryFn.SIGMOID, 0, 0);
    public static final RnnActivation TANH = new RnnActivation(UnaryFn.TANH, 0, 0);
}
