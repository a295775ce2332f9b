package dev.tenon.cuda.lower.searching;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.searching.BoxSelection;
import dev.tenon.core.ir.op.searching.NonZeroIndices;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.IndexingCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.WalkStruct;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.lower.sorting.RadixSort;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.Workspace;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Searches for elements that are not zero, and for boxes. */
public final class GpuSearchLowering {
    private static final int THREADS = 256;
    private static final int BLOCKS_A_MULTIPROCESSOR = 8;

    private GpuSearchLowering() {}

    public static Lowered lower(NonZeroIndices op, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        DType dtype = node.input(0).dtype();
        if (x.rank() > WalkStruct.DIMS) {
            return new NoKernel(
                    op.mnemonic() + " of " + x.rank() + " dims; the kernel walks at most " + WalkStruct.DIMS);
        }
        MemorySegment walk = WalkStruct.of(1, x.sizes());
        SearchChunks chunks = SearchChunks.of(x.elements(), context);
        Kernel fill =
                context.kernels().kernel(IndexingCatalog.NON_ZERO, "non_zero_fill", KernelFiles.width(dtype.bytes()));
        int input = context.slot(node.input(0));
        int indices = context.slot(node.outputs().get(0));
        int count = context.slot(node.outputs().get(1));
        List<LaunchStep.Work> works = List.of(
                chunks.counting(context, dtype, frame -> frame.at(input), frame -> frame.workspace()),
                LaunchStep.launch(
                        fill,
                        chunks.shape(),
                        (arguments, frame) -> arguments
                                .add(frame.at(input))
                                .add(frame.workspace())
                                .add(frame.at(indices))
                                .add(frame.at(count))
                                .add(SearchChunks.ignored(dtype))
                                .add(chunks.elements())
                                .add(chunks.count())
                                .add(chunks.size())
                                .add(walk, WalkStruct.ALIGNMENT)));
        return LaunchStep.of(
                "non_zero, " + chunks.count() + (chunks.count() == 1 ? " chunk" : " chunks"),
                works,
                chunks.countBytes());
    }

    /**
     * The lanes of a selection.
     *
     * @param most boxes that a lane selects
     * @param selected where in the workspace their indices lie
     * @param counts where in the workspace their numbers lie
     */
    private record Lanes(
            Node node, GpuLoweringContext context, long count, long boxes, long most, long selected, long counts) {
        long classes() {
            return node.input(1).shape().size(1);
        }

        Kernel kernel(String entry) {
            return context.kernels()
                    .kernel(
                            IndexingCatalog.BOX_SELECTION,
                            entry,
                            KernelFiles.typed(node.input(0).dtype()));
        }

        int input(int index) {
            return context.slot(node.input(index));
        }
    }

    public static Lowered lower(BoxSelection op, Node node, GpuLoweringContext context) {
        Shape scores = node.input(1).shape();
        long boxes = scores.size(2);
        if (boxes > RadixSort.MOST) {
            return new NoKernel(
                    op.mnemonic() + " of " + boxes + " boxes; the kernel numbers at most " + RadixSort.MOST);
        }
        long count = scores.elements() == 0 ? 0 : scores.elements(0, 2);
        long most = Math.min(op.most(), boxes);
        Workspace workspace = new Workspace();
        Lanes lanes = new Lanes(
                node,
                context,
                count,
                boxes,
                most,
                workspace.take(SizeMath.product(op.mnemonic(), count, most, Integer.BYTES)),
                workspace.take(SizeMath.product(op.mnemonic(), count, Long.BYTES)));
        List<LaunchStep.Work> works = new ArrayList<>();
        if (count > 0) {
            select(op, lanes, workspace, works);
        }
        works.add(write(lanes));
        return LaunchStep.of("box_selection, a block a class of an image", works, workspace.bytes());
    }

    private static void select(BoxSelection op, Lanes lanes, Workspace workspace, List<LaunchStep.Work> works) {
        int keyBytes = lanes.node().input(0).dtype() == DType.F64 ? Long.BYTES : Integer.BYTES;
        RadixSort sort = new RadixSort(
                lanes.context().kernels(), workspace, lanes.count(), lanes.boxes(), keyBytes, 8 * keyBytes);
        int boxes = lanes.input(0);
        int scores = lanes.input(1);
        int overlap = lanes.input(2);
        int least = lanes.input(3);
        long elements = SizeMath.product(op.mnemonic(), lanes.count(), lanes.boxes());
        works.add(LaunchStep.launch(
                lanes.kernel("box_keys"),
                Grids.of(elements),
                (arguments, frame) -> arguments
                        .add(frame.at(scores))
                        .add(frame.at(least))
                        .add(frame.workspace() + sort.keys())
                        .add(elements)));
        works.addAll(sort.works());
        LaunchShape shape = LaunchShape.of((int) Math.min(lanes.count(), Integer.MAX_VALUE), THREADS);
        works.add(LaunchStep.launch(
                lanes.kernel("box_select"),
                shape,
                (arguments, frame) -> arguments
                        .add(frame.at(boxes))
                        .add(frame.at(overlap))
                        .add(frame.workspace() + sort.sorted())
                        .add(frame.workspace() + sort.places())
                        .add(frame.workspace() + lanes.selected())
                        .add(frame.workspace() + lanes.counts())
                        .add(op.center() ? 1 : 0)
                        .add(lanes.count())
                        .add(lanes.classes())
                        .add(lanes.boxes())
                        .add(lanes.most())));
    }

    private static LaunchStep.Work write(Lanes lanes) {
        GpuLoweringContext context = lanes.context();
        int rows = context.slot(lanes.node().outputs().get(0));
        int count = context.slot(lanes.node().outputs().get(1));
        long most = (long) BLOCKS_A_MULTIPROCESSOR
                * context.kernels().context().device().multiprocessors();
        LaunchShape shape = LaunchShape.of((int) Math.clamp(lanes.count(), 1, most), THREADS);
        return LaunchStep.launch(
                lanes.kernel("box_write"),
                shape,
                (arguments, frame) -> arguments
                        .add(frame.workspace() + lanes.selected())
                        .add(frame.workspace() + lanes.counts())
                        .add(frame.at(rows))
                        .add(frame.at(count))
                        .add(lanes.count())
                        .add(lanes.classes())
                        .add(lanes.most()));
    }
}
