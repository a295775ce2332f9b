package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Reductions over any axes: prepares launches. Thread-safe. */
public final class ReduceKernels {
    private static final int THREADS = 256;
    private static final int WARP = 32;
    /** Elements that a thread folds before another part is worth a second launch. */
    private static final long ENOUGH_A_THREAD = 64;

    private static final int WAVES = 4;

    private final Kernels kernels;

    public ReduceKernels(Kernels kernels) {
        this.kernels = kernels;
    }

    /** Some dims of x, outermost first, with its strides in elements. Immutable. */
    public static final class Dims {
        private final long[] sizes;
        private final long[] strides;

        public Dims(long[] sizes, long[] strides) {
            this.sizes = sizes.clone();
            this.strides = strides.clone();
        }

        private long elements() {
            long product = 1;
            for (long size : sizes) {
                product = SizeMath.product("reduce", product, size);
            }
            return product;
        }

        private boolean isContiguous() {
            return strides.length > 0 && strides[strides.length - 1] == 1;
        }

        private MemorySegment walk() {
            return WalkStruct.of(1, sizes, strides);
        }
    }

    /** @param kept with at least one element */
    public Launch reduce(ReduceFn fn, DType dtype, Dims kept, Dims reduced) {
        long results = kept.elements();
        long count = reduced.elements();
        boolean along = reduced.isContiguous() || !kept.isContiguous();
        int lanes = along ? lanes(count, WARP) : lanes(count, THREADS / WARP);
        if (along && count >= 1024) {
            lanes = THREADS;
        }
        int across = along ? THREADS / lanes : WARP;
        long groups = Math.ceilDiv(results, (long) across);
        long wanted = (long) WAVES * kernels.context().device().multiprocessors();
        long parts = Math.clamp(Math.min(wanted / groups, count / (lanes * ENOUGH_A_THREAD)), 1, GridLimits.YZ);
        int stateBytes = dtype.isFloat() ? (dtype == DType.F64 ? 16 : 8) : 32;
        LaunchShape shape = new LaunchShape(
                        (int) Math.min(groups, Integer.MAX_VALUE),
                        (int) parts,
                        1,
                        along ? lanes : across,
                        along ? across : lanes,
                        1,
                        0,
                        false,
                        1,
                        false)
                .withSharedBytes(lanes * across * stateBytes);
        KernelVariant variant = KernelFiles.typed(dtype);
        Kernel joining = parts == 1 ? null : kernels.kernel(KernelCatalog.REDUCE, "reduce_parts", variant);
        return new Launch(
                kernels.kernel(KernelCatalog.REDUCE, "reduce", variant),
                joining,
                shape,
                fn.code(),
                TypeCodes.of(dtype),
                results,
                count,
                kept.walk(),
                reduced.walk(),
                parts,
                along,
                stateBytes);
    }

    private static int lanes(long count, int most) {
        return Math.clamp(Long.highestOneBit(Math.max(1, count)), 1, most);
    }

    /** A prepared reduction of one or two launches. Immutable. */
    public record Launch(
            Kernel kernel,
            @Nullable Kernel joining,
            LaunchShape shape,
            int fn,
            int type,
            long results,
            long count,
            MemorySegment kept,
            MemorySegment reduced,
            long parts,
            boolean along,
            int stateBytes) {
        /** @param workspace of {@link #workspaceBytes()} */
        public void enqueue(GpuStream stream, KernelArguments arguments, long x, long y, long workspace) {
            arguments
                    .clear()
                    .add(x)
                    .add(y)
                    .add(workspace)
                    .add(fn)
                    .add(type)
                    .add(results)
                    .add(count)
                    .add(kept, WalkStruct.ALIGNMENT)
                    .add(reduced, WalkStruct.ALIGNMENT)
                    .add(parts)
                    .add(along ? 1 : 0);
            stream.launch(kernel.function(), shape, arguments);
            if (joining != null) {
                LaunchShape second = LaunchShape.of((int) Math.min(results, Integer.MAX_VALUE), WARP)
                        .withSharedBytes(WARP * stateBytes);
                arguments
                        .clear()
                        .add(workspace)
                        .add(y)
                        .add(fn)
                        .add(type)
                        .add(results)
                        .add(count)
                        .add(parts);
                stream.launch(joining.function(), second, arguments);
            }
        }

        public long workspaceBytes() {
            return joining == null ? 0 : results * parts * stateBytes;
        }

        public String tier() {
            return "reduce, " + (along ? shape.blockX() + " lanes along" : "columns, " + shape.blockY() + " strands")
                    + (parts > 1 ? ", " + parts + " parts" : "");
        }
    }
}
