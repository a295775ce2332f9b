package dev.tenon.core.build;

import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.List;
import java.util.stream.IntStream;

/** What the words for pooling share. */
final class ImageWords {
    private ImageWords() {}

    static Value pool(OpBuilder g, String op, PoolFn fn, Value x, PoolOptions options) {
        int spatial = ContractionWords.spatial(op, x);
        Words.option(op, "options", options);
        List<Long> kernel = Words.each(op, "kernel", options.kernel(), spatial, 1);
        List<Long> strides =
                options.strides().isEmpty() ? kernel : Words.each(op, "strides", options.strides(), spatial, 1);
        return g.add(
                Words.named(
                        op,
                        () -> new Pool(
                                fn,
                                kernel,
                                strides,
                                Words.each(op, "padding before", options.padsBefore(), spatial, 0),
                                Words.each(op, "padding after", options.padsAfter(), spatial, 0),
                                Words.each(op, "dilations", options.dilations(), spatial, 1),
                                options.ceil(),
                                options.countPadding(),
                                1)),
                x);
    }

    static Value global(OpBuilder g, String op, ReduceFn fn, Value x) {
        int spatial = ContractionWords.spatial(op, x);
        return g.add(new Reduce(fn, IntStream.range(2, spatial + 2).boxed().toList(), true), x);
    }
}
