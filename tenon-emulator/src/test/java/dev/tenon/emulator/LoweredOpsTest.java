package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.testkit.OpCase;
import dev.tenon.core.testkit.OpCases;
import dev.tenon.cuda.check.KernelCase;
import dev.tenon.cuda.check.KernelCases;
import dev.tenon.cuda.check.StepRun;
import dev.tenon.cuda.kernel.file.TypeCodes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every case of the test kit whose operation has a lowering, one node at a time, its kernels checked for stray accesses
 * and races.
 */
class LoweredOpsTest {
    /** Operations without a kernel, which run as host steps. All others have one for every type that kernels know. */
    private static final Set<String> WITHOUT = Set.of();

    /** Operations that move or compare elements by their bits, and casts: they take every type. */
    private static final Set<String> MOVES = Set.of(
            "Cast",
            "Where",
            "ArgReduce",
            "TopK",
            "Copy",
            "Transpose",
            "Slice",
            "Expand",
            "Concat",
            "Gather",
            "GatherElements",
            "GatherNd",
            "OneHot",
            "Pad",
            "NonZeroIndices",
            "UniqueIndices",
            "ScatterElements",
            "ScatterNd",
            "ScaledMatMul",
            "Trilu");

    /** Views, which have no step, and what has cases of its own sizes. */
    private static final Set<String> ELSEWHERE = Set.of("Reshape", "BitCast", "MatMul", "Attention", "RaggedAttention");

    private static final Set<String> OWN = Set.of(
            "elementwise",
            "indexing",
            "packed",
            "quantisation",
            "state",
            "movement",
            "gather",
            "reduce",
            "pool",
            "resize",
            "sample",
            "instance_norm",
            "rope",
            "dft",
            "conv");

    @Test
    void operationsAgreeWithTheReferenceOrAreListed() {
        Harness.require();
        Map<String, Integer> ran = new ConcurrentSkipListMap<>();
        Map<String, Integer> without = new ConcurrentSkipListMap<>();
        Map<String, List<OpCase>> kinds = new TreeMap<>();
        for (OpCase one : OpCases.all()) {
            String kind = one.op().getClass().getSimpleName();
            boolean half = !one.inputs().isEmpty()
                    && EmulatedStages.leavesOut(kind, one.inputs().getFirst().dtype());
            if (!half && !ELSEWHERE.contains(kind) && one.op() instanceof Primitive) {
                kinds.computeIfAbsent(kind, _ -> new ArrayList<>()).add(one);
            }
        }
        List<String> faults = EmulatedStages.check(kinds, (kind, one, stage) -> {
            StepRun steps = StepRun.withoutLibraries(stage);
            if (WITHOUT.contains(kind) || !typesAreKnown(kind, one)) {
                assertThatThrownBy(() -> steps.run(one.op(), one.inputs()))
                        .as("listed as without a kernel")
                        .isInstanceOf(UnsupportedException.class);
                without.merge(kind, 1, Integer::sum);
            } else {
                stage.run(new KernelCase(
                        kind,
                        one.name(),
                        _ -> one.verify(steps.run(one.op(), one.inputs()).outputs())));
                ran.merge(kind, 1, Integer::sum);
            }
        });
        System.out.println("lowered on the emulator: " + ran + "; without a kernel: " + without);
        assertThat(faults).isEmpty();
        assertThat(without.keySet()).as("every listed operation has a case").containsAll(WITHOUT);
    }

    private static boolean typesAreKnown(String kind, OpCase one) {
        List<DType> inputs = one.inputs().stream().map(NdArray::dtype).toList();
        return Stream.concat(inputs.stream(), one.op().dtypes(inputs).stream())
                .allMatch(dtype -> TypeCodes.has(dtype)
                        || MOVES.contains(kind)
                        || (one.op() instanceof Elementwise && dtype.bits() == 8));
    }

    /**
     * The cases that the command runs on a GPU: sizes at which the fast forms are taken, values that have no result.
     */
    @Test
    void theirOwnCases() {
        Harness.require();
        Map<String, List<KernelCase>> kinds = new TreeMap<>();
        for (KernelCase one : KernelCases.all()) {
            if (OWN.contains(one.kernel()) && !EmulatedStages.leavesOut(one)) {
                kinds.computeIfAbsent(one.kernel(), _ -> new ArrayList<>()).add(one);
            }
        }
        List<String> faults = EmulatedStages.check(kinds, (_, one, stage) -> stage.run(one));
        assertThat(faults).isEmpty();
    }
}
