package dev.tenon.cpu;

import dev.tenon.core.ir.op.ArgReduce;
import dev.tenon.core.ir.op.Concat;
import dev.tenon.core.ir.op.Conv;
import dev.tenon.core.ir.op.ConvInteger;
import dev.tenon.core.ir.op.ConvTranspose;
import dev.tenon.core.ir.op.Copy;
import dev.tenon.core.ir.op.Cumulative;
import dev.tenon.core.ir.op.Dequantize;
import dev.tenon.core.ir.op.DynamicQuantize;
import dev.tenon.core.ir.op.Expand;
import dev.tenon.core.ir.op.Gather;
import dev.tenon.core.ir.op.GatherElements;
import dev.tenon.core.ir.op.GatherNd;
import dev.tenon.core.ir.op.Gru;
import dev.tenon.core.ir.op.Lstm;
import dev.tenon.core.ir.op.MaxPoolIndices;
import dev.tenon.core.ir.op.OneHot;
import dev.tenon.core.ir.op.Pad;
import dev.tenon.core.ir.op.Pool;
import dev.tenon.core.ir.op.Quantize;
import dev.tenon.core.ir.op.Resize;
import dev.tenon.core.ir.op.Rnn;
import dev.tenon.core.ir.op.ScatterElements;
import dev.tenon.core.ir.op.ScatterNd;
import dev.tenon.core.ir.op.Slice;
import dev.tenon.core.ir.op.TopK;
import dev.tenon.core.ir.op.Transpose;
import dev.tenon.core.ir.op.Trilu;
import dev.tenon.core.testkit.OpCase;
import dev.tenon.core.testkit.OpCases;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every case of the test kit for the operations that move, select, slide windows, recur or quantise. */
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
    void oneThread(OpCase kase) {
        kase.verify(OneNode.of(kase.op(), kase.inputs()).run());
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
