package dev.tenon.cpu.movement;

import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.elementwise.Copy;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.GatherElements;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.indexing.OneHot;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.ir.op.indexing.ScatterNd;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.movement.Trilu;
import dev.tenon.core.ir.op.pooling.MaxPoolIndices;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.core.ir.op.quantisation.DynamicQuantize;
import dev.tenon.core.ir.op.quantisation.Quantize;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.ir.op.state.Gru;
import dev.tenon.core.ir.op.state.Lstm;
import dev.tenon.core.ir.op.state.Rnn;
import dev.tenon.core.testkit.OpCase;
import dev.tenon.core.testkit.OpCases;
import dev.tenon.cpu.OneNode;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every case of the test kit for the operations that move, select, slide windows, recur or quantise: what they write
 * past their outputs is found, too.
 */
class MemoryOpsTest {
    private static final Set<Class<?>> OPS = Set.of(
            Copy.class,
            Transpose.class,
            Slice.class,
            Concat.class,
            Expand.class,
            Pad.class,
            Trilu.class,
            Gather.class,
            GatherElements.class,
            GatherNd.class,
            OneHot.class,
            ScatterElements.class,
            ScatterNd.class,
            ArgReduce.class,
            Cumulative.class,
            TopK.class,
            Conv.class,
            ConvTranspose.class,
            ConvInteger.class,
            Pool.class,
            MaxPoolIndices.class,
            Resize.class,
            Lstm.class,
            Gru.class,
            Rnn.class,
            Quantize.class,
            Dequantize.class,
            DynamicQuantize.class);

    static Stream<OpCase> cases() {
        return OpCases.all().stream().filter(kase -> OPS.contains(kase.op().getClass()));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void threeThreads(OpCase kase) {
        kase.verify(OneNode.of(kase.op(), kase.inputs()).threads(3).run());
    }

    @ParameterizedTest
    @MethodSource("cases")
    void constantOperands(OpCase kase) {
        kase.verify(OneNode.of(kase.op(), kase.inputs()).constants().run());
    }
}
