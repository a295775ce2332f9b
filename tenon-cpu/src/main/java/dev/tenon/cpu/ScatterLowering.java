package dev.tenon.cpu;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;

/** To be written. */
final class ScatterLowering {
    private ScatterLowering() {}

    static Step lower(Node node, LoweringContext context) {
        return lower(node.op(), node, context);
    }

    static Step lower(Op op, Node node, LoweringContext context) {
        throw new UnsupportedException(op.mnemonic() + ": no lowering yet (node \"" + node.name() + "\")");
    }
}
