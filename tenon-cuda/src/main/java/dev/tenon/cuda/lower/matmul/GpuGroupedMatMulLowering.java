package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.Micros;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.lower.step.ProductForm;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.cuda.port.TensorMap;
import java.util.List;

/**
 * Products of groups of rows in one launch: blocks find their tiles from the counts on the device, which no host ever
 * sees. By warpgroups where groups are large, else on tensor cores, else by the plain kernel.
 */
public final class GpuGroupedMatMulLowering {
    private static final int PLAIN_THREADS = 256;
    private static final int PLAIN_TILE = 64;
    private static final int PLAIN_BLOCKS = 4;
    private static final int PLAIN_PACK = 4;
    private static final String RING = "grouped_matmul_wgmma: ";

    private GpuGroupedMatMulLowering() {}

    public static GpuStep lower(Node node, GpuLoweringContext context) {
        if (node.output().shape().elements() == 0) {
            return new NoWork("none: the result is empty");
        }
        DType dtype = node.output().dtype();
        GroupedSizes sizes = GroupedSizes.of(node);
        DeviceProperties device = context.kernels().context().device();
        String refusal = switch (context.products()) {
            case PLAIN -> "the plain kernel is asked for";
            case NO_TENSOR_CORES -> "TENON_CUDA_WMMA is 0";
            case BY_CHOICE, FEW_ROWS, ROWS, RING, PARTS, TENSOR_CORES ->
                MmaPlan.refusal(dtype, sizes.even(), context.precision(), device);
        };
        if (!refusal.isEmpty()) {
            return plain(node, context, sizes, refusal);
        }
        boolean specific = context.kernels().compilesSpecific();
        MmaPlan tiles = MmaPlan.unsplit(dtype, sizes.even(), device, specific, context.tile());
        boolean chosen = context.products() == ProductForm.BY_CHOICE && context.tile() == null;
        String noRing = chosen || context.products() == ProductForm.RING
                ? GroupedRing.refusal(dtype, sizes, device, specific, !chosen)
                : "other products are asked for";
        if (noRing.isEmpty()) {
            GroupedRing ring = GroupedRing.of(dtype, sizes, device);
            if (!chosen || ring.microseconds() < tiles.microseconds()) {
                return byWarpgroups(node, context, sizes, ring);
            }
            noRing = Micros.text(ring.microseconds()) + " us by the model, tiles of " + tiles.tile() + " "
                    + Micros.text(tiles.microseconds());
        }
        return onTensorCores(node, context, sizes, tiles, RING + noRing);
    }

    private static GpuStep byWarpgroups(Node node, GpuLoweringContext context, GroupedSizes sizes, GroupedRing ring) {
        DType dtype = node.output().dtype();
        GpuContext device = context.kernels().context();
        int shared = ring.form().sharedBytes();
        Kernel kernel = context.kernels()
                .kernel(
                        ProductCatalog.GROUPED_MATMUL_WGMMA,
                        "grouped_matmul_wgmma",
                        ProductCatalog.groupedRing(dtype, ring.form().columns()),
                        shared);
        LaunchShape launch = LaunchShape.of(ring.blocks(), RingTile.THREADS)
                .withSharedBytes(shared)
                .withProgrammatic();
        PreparedLaunch work = PreparedLaunch.of(kernel, launch)
                .map(
                        context.slot(node.input(0)),
                        device,
                        at -> WarpgroupMatMul.map(dtype, at, sizes.k(), sizes.rows(), RingTile.step(dtype)))
                .map(context.slot(node.input(1)), device, at -> weights(dtype, at, sizes))
                .value(context.slot(node.input(2)))
                .value(context.slot(node.output()))
                .addAll(sizes.rows(), sizes.groups(), sizes.n())
                .add(ring.steps())
                .add(node.input(2).dtype() == DType.I64)
                .faults(context)
                .build();
        return new GroupedStep(ring.text() + ", " + dtype, List.of(), work, sizes.rows());
    }

    /** A weight a plane, so that a box beyond its last row has zeros, and not the next weight's rows. */
    private static TensorMap weights(DType dtype, long address, GroupedSizes sizes) {
        long row = dtype.bytesFor(sizes.n());
        return new TensorMap(
                WarpgroupMatMul.element(dtype),
                address,
                List.of(sizes.n(), sizes.k(), sizes.groups()),
                List.of(row, SizeMath.product("grouped_matmul", row, sizes.k())),
                List.of(RingTile.step(dtype), RingTile.step(dtype), 1),
                TensorMap.Swizzle.BYTES_128);
    }

    private static GpuStep onTensorCores(
            Node node, GpuLoweringContext context, GroupedSizes sizes, MmaPlan plan, String passedOver) {
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
        int packed = (sizes.k() % pack == 0 ? 1 : 0) + (sizes.n() % pack == 0 ? 2 : 0);
        String tier = "grouped_matmul_mma " + plan.tile() + (plan.packed() ? "" : " unpacked") + ", "
                + (dtype == DType.F32 ? "TF32" : dtype);
        return new GroupedStep(
                tier, List.of(passedOver), work(kernel, launch, node, context, sizes, packed), sizes.rows());
    }

    private static GpuStep plain(Node node, GpuLoweringContext context, GroupedSizes sizes, String refusal) {
        DType dtype = node.output().dtype();
        Kernel kernel =
                context.kernels().kernel(ProductCatalog.GROUPED_MATMUL, "grouped_matmul", KernelVariant.of(dtype));
        long most = (long) context.kernels().context().device().multiprocessors() * PLAIN_BLOCKS;
        LaunchShape launch = LaunchShape.of(sizes.blocks(PLAIN_TILE, PLAIN_TILE, most), PLAIN_THREADS);
        int packed = sizes.k() % PLAIN_PACK == 0 && sizes.n() % PLAIN_PACK == 0 ? 1 : 0;
        return new GroupedStep(
                "grouped_matmul, " + dtype,
                List.of("grouped_matmul_wgmma, grouped_matmul_mma: " + refusal),
                work(kernel, launch, node, context, sizes, packed),
                sizes.rows());
    }

    private static PreparedLaunch work(
            Kernel kernel, LaunchShape launch, Node node, GpuLoweringContext context, GroupedSizes sizes, int packed) {
        return PreparedLaunch.of(kernel, launch.withProgrammatic())
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(context.slot(node.input(2)))
                .value(context.slot(node.output()))
                .addAll(sizes.rows(), sizes.groups(), sizes.n(), sizes.k())
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
