package dev.tenon.core.ir;

import dev.tenon.core.ir.op.control.Loop;
import java.util.List;

/**
 * An operation that runs a graph of its own as often as values say. The runtime drives it, between plans; backends
 * never see one.
 */
public sealed interface Control extends Op permits Loop {
    /**
     * The reference, of concrete inputs whose types the rules have accepted.
     *
     * @throws dev.tenon.core.error.DataException for values that have no result
     */
    List<NdArray> evaluate(List<NdArray> inputs);
}
