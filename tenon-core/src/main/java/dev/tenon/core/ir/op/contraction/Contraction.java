package dev.tenon.core.ir.op.contraction;

import dev.tenon.core.ir.Primitive;

/** A sum of products that can finish its result before writing it. */
public interface Contraction {
    Epilogue epilogue();

    /** The same contraction with another epilogue. */
    Primitive with(Epilogue epilogue);

    /** Whether its epilogue may add the residual before the activation. */
    default boolean takesResidualFirst() {
        return false;
    }

    /** The axis of a result of that rank that a bias has one number for. */
    int biasAxis(int rank);
}
