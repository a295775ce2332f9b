package dev.tenon.core.ir.fn;

/** Running reductions, and what each does with its terms. */
public enum CumulativeFn {
    SUM(0),
    PROD(1);

    private final int identity;

    CumulativeFn(int identity) {
        this.identity = identity;
    }

    /** Returns the result before the first term. */
    public int identity() {
        return identity;
    }

    /** Returns the function of two numbers that takes in the next term. */
    public BinaryFn join() {
        return switch (this) {
            case SUM -> BinaryFn.ADD;
            case PROD -> BinaryFn.MUL;
        };
    }
}
