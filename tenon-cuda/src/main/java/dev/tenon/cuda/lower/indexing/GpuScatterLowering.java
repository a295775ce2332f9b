package dev.tenon.cuda.lower.indexing;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.ir.op.indexing.ScatterNd;
import dev.tenon.core.options.AdditionOrder;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.IndexingCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.kernel.MovementKernels;
import dev.tenon.cuda.kernel.WalkStruct;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.lower.sorting.RadixSort;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.Workspace;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;

/**
 * Writes to places that indices name, in index order: a copy of data, then for each update the number of the slice that
 * it goes to, then the updates. Replacing updates race for their slice with their numbers. Updates that combine are
 * sorted by slice, and where slices are long joined while data is copied; or compared with one another where they are
 * few; with {@link AdditionOrder#ANY} additions of f32 and f64 are atomic instead.
 */
public final class GpuScatterLowering {
    /** Updates up to which each is compared with all others: a sort takes about as long. */
    private static final long MOST_COMPARED = 1024;

    /** Bytes of a slice from which a warp has work for its lanes. */
    private static final long LEAST_SLICE_BYTES = 256;

    private static final long ACCESS_BYTES = 16;
    private static final long WARP = 32;

    /** Accesses of a warp at a time. */
    private static final long WARP_ACCESSES = 4 * WARP;

    private GpuScatterLowering() {}

    /**
     * What all launches of a scatter share.
     *
     * @param count of updates
     * @param slices of data
     * @param inner elements of a slice
     * @param destinations where in the workspace the slice of each update lies
     */
    private record Scatter(
            Node node,
            GpuLoweringContext context,
            Workspace workspace,
            long count,
            long slices,
            long inner,
            long destinations) {
        static Scatter of(Node node, GpuLoweringContext context, long count, long slices, long inner) {
            Workspace workspace = new Workspace();
            long bytes = SizeMath.product("scatter", count, Long.BYTES);
            return new Scatter(node, context, workspace, count, slices, inner, workspace.take(bytes));
        }

        DType dtype() {
            return node.output().dtype();
        }

        int output() {
            return context.slot(node.output());
        }

        int updates() {
            return context.slot(node.input(2));
        }

        Kernel kernel(String entry, int unit) {
            return context.kernels().kernel(IndexingCatalog.SCATTER, entry, KernelFiles.width(unit));
        }

        Kernel combining(String entry) {
            KernelVariant variant = KernelFiles.typed(dtype());
            return context.kernels().kernel(IndexingCatalog.SCATTER_COMBINE, entry, variant);
        }
    }

    /** Makes the launch that finds the slices of updates. */
    @FunctionalInterface
    private interface Places {
        /** @param last where in the workspace the last update of each slice lies; -1 for nowhere */
        LaunchStep.Work work(Scatter scatter, long last);
    }

    public static Lowered lower(ScatterElements op, Node node, GpuLoweringContext context) {
        Shape data = node.input(0).shape();
        Shape indices = node.input(1).shape();
        long[] strides = data.strides();
        long along = strides[op.axis()];
        strides[op.axis()] = 0;
        MemorySegment walk = WalkStruct.of(1, indices.sizes(), strides);
        long n = data.size(op.axis());
        int wide = node.input(1).dtype() == DType.I64 ? 1 : 0;
        int places = context.slot(node.input(1));
        int number = context.stepNumber();
        LongFunction<String> fault = index -> "index " + index + " is out of range for axis " + op.axis() + " of size "
                + n + "; expected " + -n + " to " + (n - 1);
        return lower(
                op.fn(),
                Scatter.of(node, context, indices.elements(), data.elements(), 1),
                (scatter, last) -> LaunchStep.launch(
                        scatter.kernel("scatter_elements_places", 4),
                        Grids.of(scatter.count()),
                        (arguments, frame) -> arguments
                                .add(frame.at(places))
                                .add(frame.workspace() + scatter.destinations())
                                .add(last < 0 ? 0 : frame.workspace() + last)
                                .add(wide)
                                .add(scatter.count())
                                .add(n)
                                .add(along)
                                .add(scatter.slices())
                                .add(walk, WalkStruct.ALIGNMENT)
                                .add(frame.faults())
                                .add(number)),
                fault);
    }

    public static Lowered lower(ScatterNd op, Node node, GpuLoweringContext context) {
        Shape data = node.input(0).shape();
        Shape indices = node.input(1).shape();
        GpuTupleLowering.Slices slices = GpuTupleLowering.Slices.of(0, data, indices);
        if (slices == null) {
            return GpuTupleLowering.tooLong(op.mnemonic());
        }
        int places = context.slot(node.input(1));
        int number = context.stepNumber();
        return lower(
                op.fn(),
                Scatter.of(node, context, indices.elements(0, indices.rank() - 1), slices.count(), slices.elements()),
                (scatter, last) -> LaunchStep.launch(
                        scatter.kernel("scatter_tuples_places", 4),
                        Grids.of(scatter.count()),
                        (arguments, frame) -> arguments
                                .add(frame.at(places))
                                .add(frame.workspace() + scatter.destinations())
                                .add(last < 0 ? 0 : frame.workspace() + last)
                                .add(scatter.count())
                                .add(scatter.slices())
                                .add(slices.walk(), WalkStruct.ALIGNMENT)
                                .add(frame.faults())
                                .add(number)),
                index -> GpuTupleLowering.fault(index, data, 0, slices.tuple()));
    }

    private static Lowered lower(ScatterFn fn, Scatter scatter, Places places, LongFunction<String> fault) {
        Node node = scatter.node();
        if (scatter.count() > RadixSort.MOST) {
            return new NoKernel(node.op().mnemonic() + " of " + scatter.count()
                    + " updates; the kernel numbers at most " + RadixSort.MOST);
        }
        long bytes = node.output().type().bytes();
        if (bytes > 0 && scatter.count() > MOST_COMPARED && takesSlices(fn, scatter)) {
            return slices(fn.combines().map(BinaryFn::code).orElseThrow(), scatter, places, fault);
        }
        List<LaunchStep.Work> works = new ArrayList<>();
        if (bytes > 0) {
            int data = scatter.context().slot(node.input(0));
            works.add(LaunchStep.copy(scatter.context(), data, scatter.output(), bytes));
        }
        if (scatter.count() == 0) {
            return works.isEmpty()
                    ? new NoWork(node.op().mnemonic())
                    : new LaunchStep("scatter, no updates", works.getFirst());
        }
        if (bytes == 0) { // indices are checked all the same
            works.add(places.work(scatter, -1));
            return step("scatter to nothing", works, scatter, fault);
        }
        if (fn.combines().isEmpty()) {
            return replace(works, scatter, places, fault);
        }
        works.add(places.work(scatter, -1));
        if (takesAnyOrder(fn, scatter)) {
            return anyOrder(works, scatter, fault);
        }
        int code = fn.combines().map(BinaryFn::code).orElseThrow();
        return scatter.count() <= MOST_COMPARED
                ? plain(code, works, scatter, fault)
                : sorted(code, works, scatter, fault);
    }

    /** Whether slices are runs of whole accesses of 16 bytes, long enough for a warp. */
    private static boolean takesSlices(ScatterFn fn, Scatter scatter) {
        long bytes = scatter.dtype().bytesFor(scatter.inner());
        return fn.combines().isPresent()
                && scatter.dtype().isFloat()
                && bytes % ACCESS_BYTES == 0
                && bytes >= LEAST_SLICE_BYTES
                && !takesAnyOrder(fn, scatter);
    }

    private static GpuStep step(String tier, List<LaunchStep.Work> works, Scatter scatter, LongFunction<String> fault) {
        return new LaunchStep(tier, works, scatter.workspace().bytes(), fault);
    }

    private static GpuStep replace(
            List<LaunchStep.Work> works, Scatter scatter, Places places, LongFunction<String> fault) {
        long last = scatter.workspace().take(SizeMath.product("scatter", scatter.slices(), Integer.BYTES));
        works.add(places.work(scatter, last));
        works.add(LaunchStep.launch(
                scatter.kernel("scatter_claim", 4),
                Grids.of(scatter.count()),
                (arguments, frame) -> arguments
                        .add(frame.workspace() + scatter.destinations())
                        .add(frame.workspace() + last)
                        .add(scatter.count())
                        .add(scatter.slices())));
        int width = scatter.dtype().bytes();
        int unit = MovementKernels.widest(scatter.inner() * width);
        long runs = scatter.inner() * width / unit;
        long elements = SizeMath.product("scatter", scatter.count(), runs);
        int updates = scatter.updates();
        int output = scatter.output();
        works.add(LaunchStep.launch(
                scatter.kernel("scatter_write", unit),
                Grids.of(elements),
                (arguments, frame) -> arguments
                        .add(frame.workspace() + scatter.destinations())
                        .add(frame.workspace() + last)
                        .add(frame.at(updates))
                        .add(frame.at(output))
                        .add(elements)
                        .add(runs)
                        .add(scatter.slices())));
        String access = MovementKernels.access(unit);
        return step("scatter, the last update of each slice, " + access, works, scatter, fault);
    }

    private static boolean takesAnyOrder(ScatterFn fn, Scatter scatter) {
        return fn == ScatterFn.ADD
                && scatter.context().additionOrder() == AdditionOrder.ANY
                && (scatter.dtype() == DType.F32 || scatter.dtype() == DType.F64);
    }

    private static GpuStep anyOrder(List<LaunchStep.Work> works, Scatter scatter, LongFunction<String> fault) {
        int updates = scatter.updates();
        int output = scatter.output();
        works.add(LaunchStep.launch(
                scatter.context()
                        .kernels()
                        .kernel(IndexingCatalog.SCATTER_ADD, "scatter_add", KernelVariant.of(scatter.dtype())),
                Grids.of(SizeMath.product("scatter", scatter.count(), scatter.inner())),
                (arguments, frame) -> arguments
                        .add(frame.workspace() + scatter.destinations())
                        .add(frame.at(updates))
                        .add(frame.at(output))
                        .add(scatter.count())
                        .add(scatter.inner())
                        .add(scatter.slices())));
        return step("scatter, in any order, atomic additions", works, scatter, fault);
    }

    private static GpuStep plain(int fn, List<LaunchStep.Work> works, Scatter scatter, LongFunction<String> fault) {
        int type = TypeCodes.of(scatter.dtype());
        int updates = scatter.updates();
        int output = scatter.output();
        long elements = SizeMath.product("scatter", scatter.count(), scatter.inner());
        works.add(LaunchStep.launch(
                scatter.combining("scatter_plain"),
                Grids.of(elements),
                (arguments, frame) -> arguments
                        .add(frame.workspace() + scatter.destinations())
                        .add(frame.at(updates))
                        .add(frame.at(output))
                        .add(fn)
                        .add(type)
                        .add(scatter.count())
                        .add(scatter.inner())
                        .add(scatter.slices())));
        return step("scatter, in index order, updates compared", works, scatter, fault);
    }

    private static GpuStep sorted(int fn, List<LaunchStep.Work> works, Scatter scatter, LongFunction<String> fault) {
        int type = TypeCodes.of(scatter.dtype());
        int updates = scatter.updates();
        int output = scatter.output();
        RadixSort sort = sort(scatter, works);
        int wide = wide(scatter);
        long elements = SizeMath.product("scatter", scatter.count(), scatter.inner());
        works.add(LaunchStep.launch(
                scatter.combining("scatter_sorted"),
                Grids.of(elements),
                (arguments, frame) -> arguments
                        .add(frame.workspace() + sort.sorted())
                        .add(frame.workspace() + sort.places())
                        .add(frame.at(updates))
                        .add(frame.at(output))
                        .add(wide)
                        .add(fn)
                        .add(type)
                        .add(scatter.count())
                        .add(scatter.inner())
                        .add(scatter.slices())));
        return step("scatter, in index order, updates sorted by slice", works, scatter, fault);
    }

    /** Whether the sort's keys are of 64 bits. */
    private static int wide(Scatter scatter) {
        return RadixSort.keyBytes(scatter.slices()) == Long.BYTES ? 1 : 0;
    }

    /** Adds a sort of the updates by slice. */
    private static RadixSort sort(Scatter scatter, List<LaunchStep.Work> works) {
        RadixSort sort = new RadixSort(
                scatter.context().kernels(),
                scatter.workspace(),
                1,
                scatter.count(),
                RadixSort.keyBytes(scatter.slices()),
                RadixSort.bits(scatter.slices()));
        int wide = wide(scatter);
        works.add(LaunchStep.launch(
                scatter.combining("scatter_keys"),
                Grids.of(scatter.count()),
                (arguments, frame) -> arguments
                        .add(frame.workspace() + scatter.destinations())
                        .add(frame.workspace() + sort.keys())
                        .add(wide)
                        .add(scatter.count())));
        works.addAll(sort.works());
        return sort;
    }

    /** The copy of data and the updates in one pass. */
    private static GpuStep slices(int fn, Scatter scatter, Places places, LongFunction<String> fault) {
        List<LaunchStep.Work> works = new ArrayList<>();
        works.add(places.work(scatter, -1));
        RadixSort sort = sort(scatter, works);
        long starts = scatter.workspace().take(SizeMath.product("scatter", scatter.slices(), Integer.BYTES));
        KernelVariant variant = KernelVariant.of(scatter.dtype());
        Kernels kernels = scatter.context().kernels();
        int data = scatter.context().slot(scatter.node().input(0));
        int updates = scatter.updates();
        int output = scatter.output();
        int wide = wide(scatter);
        works.add(LaunchStep.launch(
                kernels.kernel(IndexingCatalog.SCATTER_SLICES, "scatter_clear", variant),
                Grids.of(scatter.slices()),
                (arguments, frame) -> arguments.add(frame.workspace() + starts).add(scatter.slices())));
        works.add(LaunchStep.launch(
                kernels.kernel(IndexingCatalog.SCATTER_SLICES, "scatter_starts", variant),
                Grids.of(scatter.count()),
                (arguments, frame) -> arguments
                        .add(frame.workspace() + sort.sorted())
                        .add(frame.workspace() + starts)
                        .add(wide)
                        .add(scatter.count())
                        .add(scatter.slices())));
        long accesses = Math.ceilDiv(scatter.dtype().bytesFor(scatter.inner()), ACCESS_BYTES * WARP_ACCESSES);
        works.add(LaunchStep.launch(
                kernels.kernel(IndexingCatalog.SCATTER_SLICES, "scatter_slices", variant),
                Grids.of(SizeMath.product("scatter", scatter.slices(), accesses, WARP)),
                (arguments, frame) -> arguments
                        .add(frame.at(data))
                        .add(frame.workspace() + sort.sorted())
                        .add(frame.workspace() + sort.places())
                        .add(frame.workspace() + starts)
                        .add(frame.at(updates))
                        .add(frame.at(output))
                        .add(wide)
                        .add(fn)
                        .add(scatter.count())
                        .add(scatter.inner())
                        .add(scatter.slices())));
        return step("scatter, in index order, with the copy of data, 16 bytes an access", works, scatter, fault);
    }
}
