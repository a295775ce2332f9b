package dev.tenon.core.ir.op;

import org.jspecify.annotations.Nullable;

/**
 * What a contraction does to its result before writing it: add a bias (one number a column, or an output channel), apply an activation, add a residual of the result's shape; in that order.
 *
 * @param activation null for none
 */
public record Epilogue(boolean bias, @Nullable Unary activation, boolean residual) {
    public static final Epilogue NONE = new Epilogue(false, null, false);

    public Epilogue withBias() {
        return new Epilogue(true, activation, residual);
    }

    public Epilogue withActivation(Unary applied) {
        return new Epilogue(bias, applied, residual);
    }

    public Epilogue withResidual() {
        return new Epilogue(bias, activation, true);
    }

    /** How many inputs beside the two operands: bias first, then the residual. */
    public int inputs() {
        return (bias ? 1 : 0) + (residual ? 1 : 0);
    }

    public boolean isEmpty() {
        return !bias && activation == null && !residual;
    }
}
