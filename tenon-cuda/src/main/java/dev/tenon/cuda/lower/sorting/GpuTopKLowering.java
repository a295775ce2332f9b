package dev.tenon.cuda.lower.sorting;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.IndexingCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.Workspace;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;

/**
 * The first elements of lanes in order: what comes before the k-th element, found by a warp that holds a short row or
 * by a block; whole lanes sorted in shared memory; or a radix sort of long lanes.
 */
public final class GpuTopKLowering {
    /** Elements that a block sorts in shared memory. */
    private static final int MOST_SORTED = 2048;

    /** Elements of a lane up to which one block goes through it, where lanes are too few to fill the device. */
    private static final long MOST_OF_A_BLOCK = 1L << 18;

    /** Elements of a lane, and of its result, that a warp takes; bytes of keys that one of its threads holds. */
    private static final long LEAST_OF_A_WARP = 128;

    private static final long MOST_OF_A_WARP = 128;
    private static final int LANE_BYTES = 128;

    private static final int MOST_THREADS = 1024;
    private static final int USUAL_THREADS = 256;
    private static final int WARP = 32;

    private GpuTopKLowering() {}

    /** The lanes of an operation. */
    private record Lanes(TopK op, Node node, GpuLoweringContext context, long count, long n, long inner) {
        int bytes() {
            return node.input(0).dtype().bytes();
        }

        Kernel kernel(String entry, int sharedBytes) {
            return context.kernels().kernel(IndexingCatalog.TOP_K, entry, KernelFiles.width(bytes()), sharedBytes);
        }

        int descending() {
            return op.largest() ? 1 : 0;
        }
    }

    public static Lowered lower(TopK op, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        if (node.output().shape().elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        long n = x.size(op.axis());
        if (n > RadixSort.MOST) {
            return new NoKernel("top_k of an axis of " + n + " elements; the kernel numbers at most " + RadixSort.MOST);
        }
        long inner = x.elements(op.axis() + 1, x.rank());
        Lanes lanes = new Lanes(op, node, context, x.elements() / n, n, inner);
        if (warps(lanes)) {
            return warp(lanes);
        }
        if (n <= MOST_SORTED) {
            return small(lanes);
        }
        boolean fills = lanes.count() >= context.kernels().context().device().multiprocessors();
        return op.k() <= MOST_SORTED && (fills || n <= MOST_OF_A_BLOCK) ? select(lanes) : sort(lanes);
    }

    /** The least power of two that is at least a number, and at least 2. */
    private static int powerOfTwo(long least) {
        return Math.max(2, (int) Long.highestOneBit(2 * least - 1));
    }

    /** Whether a warp holds a lane in registers, and sorts so much less of it that it pays. */
    private static boolean warps(Lanes lanes) {
        int keyBytes = RadixSort.keyBytes(lanes.node().input(0).dtype());
        return lanes.inner() == 1
                && lanes.n() >= LEAST_OF_A_WARP
                && lanes.n() <= (long) WARP * LANE_BYTES / keyBytes
                && lanes.op().k() <= Math.min(MOST_OF_A_WARP, lanes.n() / 4);
    }

    private static GpuStep warp(Lanes lanes) {
        SortOrder order = SortOrder.of(lanes.node().input(0).dtype());
        int input = lanes.context().slot(lanes.node().input(0));
        int values = lanes.context().slot(lanes.node().outputs().get(0));
        int indices = lanes.context().slot(lanes.node().outputs().get(1));
        int size = powerOfTwo(lanes.op().k());
        int warps = USUAL_THREADS / WARP;
        int shared = warps * size * (RadixSort.keyBytes(lanes.node().input(0).dtype()) + Integer.BYTES);
        Kernel kernel = lanes.context()
                .kernels()
                .kernel(IndexingCatalog.TOP_K_WARP, "top_k_warp", KernelFiles.width(lanes.bytes()), shared);
        long blocks = Math.ceilDiv(lanes.count(), (long) warps);
        int packed = lanes.n() * lanes.bytes() % 16 == 0 ? 1 : 0;
        return new LaunchStep(
                "top_k_warp, a warp a row" + (packed == 1 ? ", 16 bytes an access" : ""),
                LaunchStep.launch(
                        kernel,
                        LaunchShape.of((int) Math.min(blocks, Integer.MAX_VALUE), USUAL_THREADS)
                                .withSharedBytes(shared),
                        (arguments, frame) -> arguments
                                .add(frame.at(input))
                                .add(frame.at(values))
                                .add(frame.at(indices))
                                .add(order.kind())
                                .add(order.largest())
                                .add(lanes.descending())
                                .add(lanes.count())
                                .add(lanes.n())
                                .add(lanes.op().k())
                                .add(size)
                                .add(packed)));
    }

    private static GpuStep small(Lanes lanes) {
        int size = powerOfTwo(lanes.n());
        int threads = Math.clamp(size / 2, WARP, MOST_THREADS);
        int together = (int) Math.min(Math.max(1, USUAL_THREADS / threads), lanes.count());
        int shared = together * size * (RadixSort.keyBytes(lanes.node().input(0).dtype()) + Integer.BYTES);
        long blocks = Math.ceilDiv(lanes.count(), (long) together);
        LaunchShape shape = new LaunchShape(
                (int) Math.min(blocks, Integer.MAX_VALUE), 1, 1, threads, together, 1, shared, false, 1, false);
        return new LaunchStep(
                "top_k_small, lanes sorted in shared memory",
                inShared(lanes, lanes.kernel("top_k_small", shared), shape, size));
    }

    private static GpuStep select(Lanes lanes) {
        int size = powerOfTwo(lanes.op().k());
        int shared = 2 * size * (RadixSort.keyBytes(lanes.node().input(0).dtype()) + Integer.BYTES);
        LaunchShape shape = LaunchShape.of((int) Math.min(lanes.count(), Integer.MAX_VALUE), MOST_THREADS)
                .withSharedBytes(shared);
        return new LaunchStep(
                "top_k_select, a block a lane", inShared(lanes, lanes.kernel("top_k_select", shared), shape, size));
    }

    private static LaunchStep.Work inShared(Lanes lanes, Kernel kernel, LaunchShape shape, int size) {
        SortOrder order = SortOrder.of(lanes.node().input(0).dtype());
        int input = lanes.context().slot(lanes.node().input(0));
        int values = lanes.context().slot(lanes.node().outputs().get(0));
        int indices = lanes.context().slot(lanes.node().outputs().get(1));
        return LaunchStep.launch(
                kernel,
                shape,
                (arguments, frame) -> arguments
                        .add(frame.at(input))
                        .add(frame.at(values))
                        .add(frame.at(indices))
                        .add(order.kind())
                        .add(order.largest())
                        .add(lanes.descending())
                        .add(lanes.count())
                        .add(lanes.n())
                        .add(lanes.inner())
                        .add(lanes.op().k())
                        .add(size));
    }

    private static GpuStep sort(Lanes lanes) {
        SortOrder order = SortOrder.of(lanes.node().input(0).dtype());
        int input = lanes.context().slot(lanes.node().input(0));
        int values = lanes.context().slot(lanes.node().outputs().get(0));
        int indices = lanes.context().slot(lanes.node().outputs().get(1));
        Workspace workspace = new Workspace();
        int keyBytes = RadixSort.keyBytes(lanes.node().input(0).dtype());
        RadixSort sort = new RadixSort(
                lanes.context().kernels(), workspace, lanes.count(), lanes.n(), keyBytes, 8 * lanes.bytes());
        List<LaunchStep.Work> works = new ArrayList<>();
        works.add(sort.keying(
                lanes.kernel("top_k_keys", 0), order, input, lanes.op().largest(), lanes.inner()));
        works.addAll(sort.works());
        works.add(LaunchStep.launch(
                lanes.kernel("top_k_take", 0),
                Grids.of(Math.ceilDiv(
                        SizeMath.product("top_k", lanes.count(), lanes.op().k()), 4L)),
                (arguments, frame) -> arguments
                        .add(frame.at(input))
                        .add(frame.workspace() + sort.sorted())
                        .add(frame.workspace() + sort.places())
                        .add(frame.at(values))
                        .add(frame.at(indices))
                        .add(order.kind())
                        .add(order.largest())
                        .add(lanes.descending())
                        .add(lanes.count())
                        .add(lanes.n())
                        .add(lanes.inner())
                        .add(lanes.op().k())));
        String tier = "top_k, a radix sort of " + lanes.count() + (lanes.count() == 1 ? " lane" : " lanes");
        return LaunchStep.of(tier, works, workspace.bytes());
    }
}
