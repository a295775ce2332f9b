package dev.tenon.cuda.lower.indexing;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.indexing.OneHot;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.IndexingCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.MovementKernels;
import dev.tenon.cuda.kernel.WalkStruct;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.lower.movement.GpuMovementLowering;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads of slices that index tuples name, and one-hot rows. */
public final class GpuTupleLowering {
    private GpuTupleLowering() {}

    public static Lowered lower(GatherNd op, Node node, GpuLoweringContext context) {
        Shape y = node.output().shape();
        if (y.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        Shape data = node.input(0).shape();
        Shape indices = node.input(1).shape();
        Slices slices = Slices.of(op.batchDims(), data, indices);
        if (slices == null) {
            return tooLong(op.mnemonic());
        }
        int bytes = GpuMovementLowering.width(node);
        long inner = slices.elements();
        int unit = MovementKernels.widest(inner * bytes);
        long runs = inner * bytes / unit;
        long elements = y.elements() / inner * runs;
        long tuples = indices.elements(op.batchDims(), indices.rank() - 1);
        Kernel kernel = context.kernels().kernel(IndexingCatalog.GATHER_ND, "gather_nd", KernelFiles.width(unit));
        int from = context.slot(node.input(0));
        int places = context.slot(node.input(1));
        int output = context.slot(node.output());
        int number = context.stepNumber();
        LaunchStep.Work work = LaunchStep.launch(
                kernel,
                Grids.of(elements),
                (arguments, frame) -> arguments
                        .add(frame.at(from))
                        .add(frame.at(places))
                        .add(frame.at(output))
                        .add(elements)
                        .add(runs)
                        .add(tuples)
                        .add(slices.count())
                        .add(slices.walk(), WalkStruct.ALIGNMENT)
                        .add(frame.faults())
                        .add(number));
        return new LaunchStep(
                "gather_nd, " + MovementKernels.access(unit),
                List.of(work),
                0,
                index -> fault(index, data, op.batchDims(), slices.tuple()));
    }

    /**
     * The slices that index tuples name.
     *
     * @param elements of a slice
     * @param count of slices in a batch
     * @param tuple indices of a tuple
     * @param walk over the dims that a tuple indexes, with their strides in slices
     */
    record Slices(long elements, long count, int tuple, MemorySegment walk) {
        /** Returns null for tuples that are longer than kernels walk. */
        static @Nullable Slices of(int batch, Shape data, Shape indices) {
            long tuple = indices.size(indices.rank() - 1);
            if (tuple > WalkStruct.DIMS) {
                return null;
            }
            int length = (int) tuple;
            long[] sizes = Arrays.copyOfRange(data.sizes(), batch, batch + length);
            long[] strides = new long[length];
            long stride = 1;
            for (int i = length - 1; i >= 0; i--) {
                strides[i] = stride;
                stride = SizeMath.product("index tuples", stride, sizes[i]);
            }
            return new Slices(
                    data.elements(batch + length, data.rank()), stride, length, WalkStruct.of(1, sizes, strides));
        }
    }

    static NoKernel tooLong(String mnemonic) {
        return new NoKernel(mnemonic + " by index tuples of more than " + WalkStruct.DIMS
                + " indices; the kernel takes at most " + WalkStruct.DIMS);
    }

    static String fault(long index, Shape data, int batch, int tuple) {
        return "index " + index + " is out of range for one of axes " + batch + " to " + (batch + tuple - 1)
                + " of data " + data + "; expected at least minus the axis's size and less than its size";
    }

    public static GpuStep lower(OneHot op, Node node, GpuLoweringContext context) {
        Shape y = node.output().shape();
        long elements = y.elements();
        if (elements == 0) {
            return new NoWork(op.mnemonic());
        }
        int bytes = node.output().dtype().bytes();
        long inner = y.elements(op.axis() + 1, y.rank());
        int pack = inner == 1 && op.depth() % (16 / bytes) == 0 ? 16 / bytes : 1;
        Kernel kernel = context.kernels().kernel(IndexingCatalog.ONE_HOT, "one_hot", KernelFiles.width(bytes));
        int wide = node.input(0).dtype() == DType.I64 ? 1 : 0;
        int indices = context.slot(node.input(0));
        int values = context.slot(node.input(1));
        int output = context.slot(node.output());
        return new LaunchStep(
                "one_hot, " + pack * bytes + " bytes an access",
                LaunchStep.launch(
                        kernel,
                        Grids.of(elements / pack),
                        (arguments, frame) -> arguments
                                .add(frame.at(indices))
                                .add(frame.at(values))
                                .add(frame.at(output))
                                .add(wide)
                                .add(elements)
                                .add(op.depth())
                                .add(inner)));
    }
}
