package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Reads from places that indices name: prepares launches. Thread-safe. */
public final class GatherKernels {
    /** Elements of a thread of gather, as its source says. */
    private static final int AHEAD = 4;

    private final Kernels kernels;

    public GatherKernels(Kernels kernels) {
        this.kernels = kernels;
    }

    /**
     * data [outer, n, inner], m indices → y [outer, m, inner], with at least one element.
     *
     * @param bytes of an element: 1, 2, 4, 8
     * @param wide whether the indices are i64, else i32
     */
    public Launch axis(int bytes, boolean wide, long outer, long n, long m, long inner) {
        int unit = MovementKernels.widest(inner * bytes);
        long runs = inner * bytes / unit;
        long elements = SizeMath.product("gather", outer, m, runs);
        return new Launch(
                kernels.kernel(KernelCatalog.GATHER, "gather", KernelFiles.width(unit)),
                Grids.of(Math.ceilDiv(elements, (long) AHEAD)).withProgrammatic(),
                wide,
                elements,
                n,
                m,
                runs,
                null,
                "gather, " + MovementKernels.access(unit));
    }

    /**
     * As many results as indices, each from its own place of data but along one axis.
     *
     * @param sizes of the indices
     * @param strides of data, 0 along the axis
     * @param n data's size along the axis
     * @param stride of data along the axis
     */
    public Launch elements(int bytes, boolean wide, long[] sizes, long[] strides, long elements, long n, long stride) {
        return new Launch(
                kernels.kernel(KernelCatalog.GATHER, "gather_elements", KernelFiles.width(bytes)),
                Grids.of(elements).withProgrammatic(),
                wide,
                elements,
                n,
                stride,
                0,
                WalkStruct.of(1, sizes, strides),
                "gather_elements");
    }

    /** A prepared launch. Immutable. */
    public record Launch(
            Kernel kernel,
            LaunchShape shape,
            boolean wide,
            long elements,
            long n,
            long second,
            long third,
            @Nullable MemorySegment walk,
            String tier) {
        public void enqueue(
                GpuStream stream, KernelArguments arguments, long data, long indices, long y, long faults, int step) {
            arguments
                    .clear()
                    .add(data)
                    .add(indices)
                    .add(y)
                    .add(wide ? 1 : 0)
                    .add(elements)
                    .add(n)
                    .add(second);
            if (walk == null) {
                arguments.add(third);
            } else {
                arguments.add(walk, WalkStruct.ALIGNMENT);
            }
            stream.launch(kernel.function(), shape, arguments.add(faults).add(step));
        }
    }
}
