package dev.tenon.cuda.lower.searching;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.searching.UniqueIndices;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.IndexingCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.lower.sorting.RadixSort;
import dev.tenon.cuda.lower.sorting.SortOrder;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.Workspace;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * The different slices of an axis: slices in order, by a radix sort of single elements or by merging, then the heads of
 * groups of equals, then the groups' numbers.
 */
public final class GpuUniqueLowering {
    /** Slices up to which merging takes fewer launches than a radix sort. */
    private static final long FEW = 1024;

    private final Node node;
    private final GpuLoweringContext context;
    private final Workspace workspace = new Workspace();
    private final List<LaunchStep.Work> works = new ArrayList<>();
    private final DType dtype;
    private final SortOrder order;
    private final long outer;
    private final long n;
    private final long inner;
    private final int input;

    private GpuUniqueLowering(UniqueIndices op, Node node, GpuLoweringContext context) {
        this.node = node;
        this.context = context;
        Shape x = node.input(0).shape();
        dtype = node.input(0).dtype();
        order = SortOrder.of(dtype);
        outer = x.elements(0, op.axis());
        n = x.size(op.axis());
        inner = x.elements(op.axis() + 1, x.rank());
        input = context.slot(node.input(0));
    }

    public static Lowered lower(UniqueIndices op, Node node, GpuLoweringContext context) {
        long slices = node.input(0).shape().size(op.axis());
        if (slices > RadixSort.MOST) {
            return new NoKernel(
                    op.mnemonic() + " of " + slices + " slices; the kernel numbers at most " + RadixSort.MOST);
        }
        return new GpuUniqueLowering(op, node, context).step(op);
    }

    private LaunchStep step(UniqueIndices op) {
        boolean single = outer == 1 && inner == 1;
        boolean radix = single && n > FEW;
        ToLongFunction<GpuFrame> places = n == 0 ? _ -> 0 : radix ? sorted() : merged();
        groups(op, places);
        return LaunchStep.of(
                "unique, slices " + (radix ? "sorted by digits" : "merged") + (op.sorted() ? "" : ", numbered as met"),
                works,
                workspace.bytes());
    }

    private Kernel kernel(KernelFile file, String entry) {
        return context.kernels().kernel(file, entry, KernelFiles.width(dtype.bytes()));
    }

    private KernelArguments slices(KernelArguments arguments) {
        return arguments
                .add(order.kind())
                .add(order.largest())
                .add(outer)
                .add(n)
                .add(inner);
    }

    private ToLongFunction<GpuFrame> sorted() {
        RadixSort sort = new RadixSort(context.kernels(), workspace, 1, n, RadixSort.keyBytes(dtype), dtype.bits());
        works.add(sort.keying(kernel(IndexingCatalog.TOP_K, "top_k_keys"), order, input, false, 1));
        works.addAll(sort.works());
        return frame -> frame.workspace() + sort.places();
    }

    /** Runs of places merged in pairs, from single ones on. */
    private ToLongFunction<GpuFrame> merged() {
        long bytes = SizeMath.product("unique", n, Integer.BYTES);
        long[] places = {workspace.take(bytes), workspace.take(bytes)};
        Kernel merge = kernel(IndexingCatalog.UNIQUE, "unique_merge");
        LaunchShape shape = Grids.of(n);
        int at = 0;
        for (long run = 1; run == 1 || run < n; run *= 2) {
            long length = run;
            long from = run == 1 ? -1 : places[1 - at];
            long to = places[at];
            works.add(LaunchStep.launch(
                    merge,
                    shape,
                    (arguments, frame) -> slices(arguments
                                    .add(frame.at(input))
                                    .add(from < 0 ? 0 : frame.workspace() + from)
                                    .add(frame.workspace() + to))
                            .add(length)));
            at = 1 - at;
        }
        long last = places[1 - at];
        return frame -> frame.workspace() + last;
    }

    private void groups(UniqueIndices op, ToLongFunction<GpuFrame> places) {
        SearchChunks chunks = SearchChunks.of(n, context);
        long heads = workspace.take(n);
        long counts = workspace.take(chunks.countBytes());
        long groups = workspace.take(SizeMath.product("unique", n, Integer.BYTES));
        long starts = workspace.take(SizeMath.product("unique", n, Integer.BYTES));
        int count = context.slot(node.outputs().get(3));
        if (n > 0) {
            works.add(LaunchStep.launch(
                    kernel(IndexingCatalog.UNIQUE, "unique_heads"),
                    Grids.of(n),
                    (arguments, frame) -> slices(arguments
                            .add(frame.at(input))
                            .add(places.applyAsLong(frame))
                            .add(frame.workspace() + heads))));
        }
        works.add(chunks.counting(
                context, DType.U8, frame -> frame.workspace() + heads, frame -> frame.workspace() + counts));
        works.add(LaunchStep.launch(
                kernel(IndexingCatalog.UNIQUE, "unique_groups"),
                chunks.shape(),
                (arguments, frame) -> arguments
                        .add(frame.workspace() + heads)
                        .add(frame.workspace() + counts)
                        .add(frame.workspace() + groups)
                        .add(frame.workspace() + starts)
                        .add(frame.at(count))
                        .add(n)
                        .add(chunks.count())
                        .add(chunks.size())));
        if (n == 0) {
            return;
        }
        ToLongFunction<GpuFrame> ranks = op.sorted() ? _ -> 0 : ranks(places, heads, counts, chunks);
        int first = context.slot(node.outputs().get(0));
        int inverse = context.slot(node.outputs().get(1));
        int sizes = context.slot(node.outputs().get(2));
        works.add(LaunchStep.launch(
                kernel(IndexingCatalog.UNIQUE, "unique_write"),
                Grids.of(n),
                (arguments, frame) -> arguments
                        .add(places.applyAsLong(frame))
                        .add(frame.workspace() + groups)
                        .add(frame.workspace() + starts)
                        .add(ranks.applyAsLong(frame))
                        .add(frame.at(count))
                        .add(frame.at(first))
                        .add(frame.at(inverse))
                        .add(frame.at(sizes))
                        .add(n)));
    }

    /** The order of groups by their first slices. */
    private ToLongFunction<GpuFrame> ranks(
            ToLongFunction<GpuFrame> places, long heads, long counts, SearchChunks chunks) {
        long firsts = workspace.take(n);
        long ranks = workspace.take(SizeMath.product("unique", n, Integer.BYTES));
        works.add(LaunchStep.launch(
                kernel(IndexingCatalog.UNIQUE, "unique_firsts"),
                Grids.of(n),
                (arguments, frame) -> arguments
                        .add(frame.workspace() + heads)
                        .add(places.applyAsLong(frame))
                        .add(frame.workspace() + firsts)
                        .add(n)));
        works.add(chunks.counting(
                context, DType.U8, frame -> frame.workspace() + firsts, frame -> frame.workspace() + counts));
        works.add(LaunchStep.launch(
                kernel(IndexingCatalog.UNIQUE, "unique_ranks"),
                chunks.shape(),
                (arguments, frame) -> arguments
                        .add(frame.workspace() + firsts)
                        .add(frame.workspace() + counts)
                        .add(frame.workspace() + ranks)
                        .add(n)
                        .add(chunks.count())
                        .add(chunks.size())));
        return frame -> frame.workspace() + ranks;
    }
}
