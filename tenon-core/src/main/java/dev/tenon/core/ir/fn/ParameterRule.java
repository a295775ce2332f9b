package dev.tenon.core.ir.fn;

import dev.tenon.core.error.ShapeException;

/** Which parameters a function of one number has. */
enum ParameterRule {
    NONE,
    ANY,
    ALPHA_NOT_ZERO;

    /**
     * @throws ShapeException for parameters that the function does not have, or an alpha of 0 where another is asked
     * for
     */
    void check(String word, double alpha, double beta) {
        switch (this) {
            case NONE -> {
                if (alpha != 0 || beta != 0) {
                    throw new ShapeException(
                            word + ": has no parameters; expected alpha 0 and beta 0, got " + alpha + " and " + beta);
                }
            }
            case ALPHA_NOT_ZERO -> {
                if (alpha == 0) {
                    throw new ShapeException(word + ": alpha is 0; expected another number, 1 for the usual form");
                }
            }
            case ANY -> {}
        }
    }
}
