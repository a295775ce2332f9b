package dev.tenon.core.build;

import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.List;
import java.util.stream.IntStream;

/** What the words for reductions share. */
final class ReductionWords {
    private ReductionWords() {}

    static Value reduce(OpBuilder g, String word, ReduceFn fn, Value x, boolean keepDims, int... axes) {
        List<Integer> named = Words.axes(word, x, axes);
        List<Integer> reduced =
                named.isEmpty() ? IntStream.range(0, x.shape().rank()).boxed().toList() : named;
        return g.add(new Reduce(fn, reduced, keepDims), x);
    }
}
