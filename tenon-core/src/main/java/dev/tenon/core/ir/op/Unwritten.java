package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Op;

final class Unwritten {
    private Unwritten() {}

    static AssertionError rule(Op op) {
        return new AssertionError(op.mnemonic());
    }
}
