package dev.tenon.core.compiler;

import dev.tenon.core.compiler.fusion.ChannelsLast;
import dev.tenon.core.compiler.fusion.FoldBatchNorms;
import dev.tenon.core.compiler.fusion.FoldPads;
import dev.tenon.core.compiler.fusion.FoldScales;
import dev.tenon.core.compiler.fusion.FuseElementwise;
import dev.tenon.core.compiler.fusion.FuseEmbeddings;
import dev.tenon.core.compiler.fusion.FuseEpilogues;
import dev.tenon.core.compiler.fusion.FuseGatedUnits;
import dev.tenon.core.compiler.fusion.FuseNormedProducts;
import dev.tenon.core.compiler.fusion.FuseProjectedAttention;
import dev.tenon.core.compiler.fusion.FusePrologues;
import dev.tenon.core.compiler.fusion.FuseResidualNorms;
import dev.tenon.core.compiler.fusion.FuseRowRegions;
import dev.tenon.core.compiler.fusion.FuseScaledProducts;
import dev.tenon.core.compiler.fusion.MergeParallelProducts;
import dev.tenon.core.compiler.fusion.NarrowMasks;
import dev.tenon.core.compiler.fusion.PackHeads;
import dev.tenon.core.compiler.fusion.SpelledAttention;
import dev.tenon.core.compiler.fusion.SpelledRope;
import dev.tenon.core.compiler.rewrite.DeadCode;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rule.Canonicalise;
import dev.tenon.core.compiler.rule.SpelledForms;
import java.util.List;
import java.util.stream.Stream;

/**
 * The passes in their order.
 *
 * @param requiredFirst run first on every graph
 * @param optimisations run next on a graph to be optimised
 * @param requiredLast run last on every graph
 * @param ahead hold for every number of the named dims; they run once, on what is known of shapes
 */
record PassOrder(List<Pass> requiredFirst, List<Pass> optimisations, List<Pass> requiredLast, List<Pass> ahead) {
    static PassOrder standard() {
        return new PassOrder(
                List.of(new Decompose()),
                List.of(
                        new Canonicalise(),
                        new CommonSubexpressions(),
                        new SpelledForms(),
                        new SpelledRope(),
                        new SpelledAttention(),
                        new NarrowMasks(),
                        new FuseScaledProducts(),
                        new HalfPrecision(),
                        new FoldPads(),
                        new FuseEpilogues(),
                        new FuseGatedUnits(),
                        new ChannelsLast(),
                        new MergeParallelProducts(),
                        new PackHeads(),
                        FuseElementwise.ofPlan(),
                        new FuseEmbeddings(),
                        new FuseResidualNorms(),
                        new FuseRowRegions(),
                        new FuseNormedProducts(),
                        new FuseProjectedAttention(),
                        new FusePrologues()),
                List.of(new DeadCode(), new OutputCopies()),
                List.of(
                        new CommonSubexpressions(),
                        new Canonicalise(),
                        new SpelledForms(),
                        new SpelledRope(),
                        new SpelledAttention(),
                        new NarrowMasks(),
                        new FuseScaledProducts(),
                        new FoldBatchNorms(),
                        new FoldScales(),
                        new FoldPads(),
                        new HalfPrecision(),
                        new FuseEpilogues(),
                        new FuseGatedUnits(),
                        new MergeParallelProducts(),
                        new PackHeads(),
                        FuseElementwise.ahead(),
                        new FuseEmbeddings(),
                        new DeadCode()));
    }

    /** Whether a pass works on what {@link HalfPrecision} leaves, and so waits for sizes where that does. */
    static boolean followsHalves(Pass pass) {
        return pass instanceof HalfPrecision
                || pass instanceof FuseEpilogues
                || pass instanceof FuseGatedUnits
                || pass instanceof MergeParallelProducts
                || pass instanceof FuseElementwise
                || pass instanceof FuseEmbeddings;
    }

    /** What a plan goes through, in its order. */
    List<Pass> ofPlan() {
        return Stream.of(requiredFirst, optimisations, requiredLast)
                .flatMap(List::stream)
                .toList();
    }
}
