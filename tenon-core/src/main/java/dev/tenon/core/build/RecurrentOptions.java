package dev.tenon.core.build;

import dev.tenon.core.error.Require;
import dev.tenon.core.ir.op.state.RnnDirection;

/**
 * Says how a recurrent layer walks its sequences. Immutable.
 *
 * @param batchFirst whether the batch is the first axis of x and of the results, rather than the second
 * @param clip bounds the arguments of activations to [-clip, clip]; 0 for none
 * @param resetAfter whether a GRU's reset gate applies after the state's product, as in PyTorch and cuDNN, rather than
 *     before; not of an LSTM
 */
public record RecurrentOptions(RnnDirection direction, boolean batchFirst, double clip, boolean resetAfter) {
    public RecurrentOptions {
        Require.nonNull(direction, "direction");
    }

    /** Returns forward, batch second, no clip, the reset gate before the product. */
    public static RecurrentOptions defaults() {
        return new RecurrentOptions(RnnDirection.FORWARD, false, 0, false);
    }

    public RecurrentOptions withDirection(RnnDirection wanted) {
        return new RecurrentOptions(Require.nonNull(wanted, "wanted"), batchFirst, clip, resetAfter);
    }

    public RecurrentOptions withBatchFirst(boolean on) {
        return new RecurrentOptions(direction, on, clip, resetAfter);
    }

    public RecurrentOptions withClip(double limit) {
        return new RecurrentOptions(direction, batchFirst, limit, resetAfter);
    }

    public RecurrentOptions withResetAfter(boolean on) {
        return new RecurrentOptions(direction, batchFirst, clip, on);
    }
}
