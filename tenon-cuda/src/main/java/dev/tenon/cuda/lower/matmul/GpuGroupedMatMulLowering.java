package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.KernelVariant;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/**
 * Products of groups of rows in one launch: blocks find their tiles from the counts on the device, which no host ever
 * sees. On tensor cores, else by the plain kernel.
 */
public final class GpuGroupedMatMulLowering {
    private static final int PLAIN_THREADS = 256;
    private static final int PLAIN_TILE = 64;
    private static final int PLAIN_BLOCKS = 4;
    private static final int PLAIN_PACK = 4;

    private GpuGroupedMatMulLowering() {}

    public static GpuStep lower(Node node, GpuLoweringContext context) {
        DType dtype = node.output().dtype();
        long rows = node.input(0).shape().size(0);
        Shape weights = node.input(1).shape();
        long groups = weights.size(0);
        long k = weights.size(1);
        long n = weights.size(2);
        if (node.output().shape().elements() == 0) {
            return new NoWork("none: the result is empty");
        }
        // without any knowledge of the counts, groups of one size
        MatMulShape even = new MatMulShape(
                Math.ceilDiv(rows, Math.max(1, groups)),
                n,
                k,
                false,
                false,
                List.of(Math.max(1, groups)),
                List.of(0L),
                List.of(k * n));
        DeviceProperties device = context.kernels().context().device();
        String refusal = switch (context.products()) {
            case PLAIN -> "the plain kernel is asked for";
            case NO_TENSOR_CORES -> "TENON_CUDA_WMMA is 0";
            case BY_CHOICE, FEW_ROWS, ROWS, RING, TENSOR_CORES ->
                MmaPlan.refusal(dtype, even, context.precision(), device);
        };
        GroupedSizes sizes = new GroupedSizes(rows, groups, n, k);
        return refusal.isEmpty()
                ? onTensorCores(
                        node,
                        context,
                        sizes,
                        MmaPlan.unsplit(dtype, even, device, context.kernels().compilesSpecific(), context.tile()))
                : plain(node, context, sizes, refusal);
    }

    /**
     * Sizes of a grouped product.
     *
     * @param rows of all groups
     * @param groups how many
     * @param n columns of a weight
     * @param k its rows
     */
    private record GroupedSizes(long rows, long groups, long n, long k) {
        /** Blocks enough for the tiles that there may be, at most so many. */
        int blocks(int tileRows, int tileColumns, long most) {
            long high = SizeMath.sum("grouped_matmul", rows / tileRows, Math.min(rows, groups));
            double tiles = (double) high * Math.ceilDiv(n, tileColumns);
            return (int) Math.max(1, Math.min(tiles, (double) most));
        }
    }

    private static GpuStep onTensorCores(Node node, GpuLoweringContext context, GroupedSizes sizes, MmaPlan plan) {
        DeviceProperties device = context.kernels().context().device();
        DType dtype = node.output().dtype();
        int shared = plan.tile().sharedBytes(device.architecture().number());
        Kernel kernel = context.kernels()
                .kernel(
                        ProductCatalog.GROUPED_MATMUL_MMA,
                        "grouped_matmul_mma",
                        plan.tile().grouped(dtype, plan.packed()),
                        shared);
        long most = (long) device.multiprocessors() * MmaPlan.resident(plan.tile(), device);
        int blocks = sizes.blocks(plan.tile().rows(), plan.tile().columns(), most);
        LaunchShape launch = LaunchShape.of(blocks, plan.tile().threads()).withSharedBytes(shared);
        int pack = 16 / dtype.bytes();
        int packed = (sizes.k % pack == 0 ? 1 : 0) + (sizes.n % pack == 0 ? 2 : 0);
        String tier = "grouped_matmul_mma " + plan.tile() + (plan.packed() ? "" : " unpacked") + ", "
                + (dtype == DType.F32 ? "TF32" : dtype);
        return new GroupedStep(tier, List.of(), work(kernel, launch, node, context, sizes, packed), sizes.rows);
    }

    private static GpuStep plain(Node node, GpuLoweringContext context, GroupedSizes sizes, String refusal) {
        DType dtype = node.output().dtype();
        Kernel kernel =
                context.kernels().kernel(ProductCatalog.GROUPED_MATMUL, "grouped_matmul", KernelVariant.of(dtype));
        long most = (long) context.kernels().context().device().multiprocessors() * PLAIN_BLOCKS;
        LaunchShape launch = LaunchShape.of(sizes.blocks(PLAIN_TILE, PLAIN_TILE, most), PLAIN_THREADS);
        int packed = sizes.k % PLAIN_PACK == 0 && sizes.n % PLAIN_PACK == 0 ? 1 : 0;
        return new GroupedStep(
                "grouped_matmul, " + dtype,
                List.of("grouped_matmul_mma: " + refusal),
                work(kernel, launch, node, context, sizes, packed),
                sizes.rows);
    }

    private static PreparedLaunch work(
            Kernel kernel, LaunchShape launch, Node node, GpuLoweringContext context, GroupedSizes sizes, int packed) {
        return PreparedLaunch.of(kernel, launch.withProgrammatic())
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(context.slot(node.input(2)))
                .value(context.slot(node.output()))
                .addAll(sizes.rows, sizes.groups, sizes.n, sizes.k)
                .add(node.input(2).dtype() == DType.I64)
                .add(packed)
                .faults(context)
                .build();
    }

    private record GroupedStep(String tier, List<String> passedOver, PreparedLaunch work, long rows)
            implements GpuStep {
        @Override
        public void enqueue(GpuFrame frame) {
            work.enqueue(frame);
        }

        @Override
        public String fault(long value) {
            return value < 0
                    ? "counts sum to " + (-1 - value) + "; expected the number of rows, " + rows
                    : "the count of expert " + value + " does not fit " + rows + " rows";
        }
    }
}
