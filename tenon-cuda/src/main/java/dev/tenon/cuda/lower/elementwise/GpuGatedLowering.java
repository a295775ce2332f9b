package dev.tenon.cuda.lower.elementwise;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.attention.GatedUnit;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.KernelCatalog;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.LaunchShape;

/** Gated linear units: one launch that reads both halves of a row. */
public final class GpuGatedLowering {
    private static final int THREADS = 256;
    private static final int PACK_BYTES = 16;
    /** Four rounds of the four that are there at a time. */
    private static final int BLOCKS_A_MULTIPROCESSOR = 16;

    private GpuGatedLowering() {}

    /** Whether {@link #lower} takes a node of whatever sizes. */
    public static boolean claims(Node node) {
        return switch (node.output().dtype()) {
            case F32, F16, BF16, F64 -> true;
            default -> false;
        };
    }

    /** The step of a unit of concrete sizes. */
    public static Lowered lower(GatedUnit op, Node node, GpuLoweringContext context) {
        Shape y = node.output().shape();
        if (y.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        DType dtype = node.output().dtype();
        long half = y.size(y.rank() - 1);
        int pack = PACK_BYTES / dtype.bytes();
        boolean packed = half % pack == 0;
        String entry = packed ? "gated_unit_vw" : "gated_unit";
        Kernel kernel = context.kernels()
                .kernel(
                        KernelCatalog.GATED_UNIT,
                        entry,
                        KernelCatalog.finishing(dtype, op.activation().fn()));
        long blocks = Math.ceilDiv(y.elements() / (packed ? pack : 1), (long) THREADS);
        long most = (long) context.kernels().context().device().multiprocessors() * BLOCKS_A_MULTIPROCESSOR;
        LaunchShape shape =
                LaunchShape.of((int) Math.min(blocks, most), THREADS).withProgrammatic();
        PreparedLaunch launch = PreparedLaunch.of(kernel, shape)
                .value(context.slot(node.input(0)))
                .value(context.slot(node.output()))
                .add(y.elements() / half)
                .add(half)
                .add(op.second())
                .add(op.activation().fn().code())
                .compute(dtype, op.activation().alpha())
                .compute(dtype, op.activation().beta())
                .build();
        return LaunchStep.of(entry + ", " + op.activation().fn().word(), launch);
    }
}
