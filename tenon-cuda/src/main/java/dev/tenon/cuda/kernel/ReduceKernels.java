package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Reductions over any axes: prepares launches. Thread-safe.
 *
 * <p>Floats whose reduced elements, or whose results, are neighbours in memory have kernels of their own
 * (reduce_lanes.cu); walks over both sets of dims take everything else. Where results are too few to fill the device,
 * each is cut into parts of at least {@link #ENOUGH_A_THREAD} accesses a thread, which a second launch joins.
 */
public final class ReduceKernels {
    private static final int THREADS = 256;
    private static final int WARP = 32;
    private static final int STRANDS = THREADS / WARP;
    private static final int ACCESS_BYTES = 16;

    /** Accesses of a thread before another part is worth a second launch. */
    private static final long ENOUGH_A_THREAD = 64;

    /** The same for columns, whose accesses are of 16 bytes. */
    private static final long ENOUGH_ROWS = 16;

    /** Accesses of a row past which a block goes through it, not a warp. */
    private static final long LONG_ROW = 1024;

    private static final int WAVES = 4;
    private static final int COLUMN_WAVES = 8;

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

        private boolean isOne() {
            return sizes.length <= 1;
        }

        /** From one element to the next, of one dim. */
        private long stride() {
            return strides.length == 0 ? 0 : strides[0];
        }

        /** Whether runs of so many innermost elements begin on multiples of as many. */
        private boolean hasPacks(int pack) {
            for (int d = 0; d < sizes.length; d++) {
                long apart = d == sizes.length - 1 ? sizes[d] : strides[d];
                if (apart % pack != 0) {
                    return false;
                }
            }
            return true;
        }

        private MemorySegment walk() {
            return WalkStruct.of(1, sizes, strides);
        }
    }

    /** What a reduction is of; sizes of at least one result. */
    private record Problem(ReduceFn fn, DType dtype, Dims kept, Dims reduced, long results, long count) {
        int stateBytes() {
            return dtype.isFloat() ? (dtype == DType.F64 ? 16 : 8) : 32;
        }

        int pack() {
            return ACCESS_BYTES / dtype.bytes();
        }
    }

    /** @param kept with at least one element */
    public Launch reduce(ReduceFn fn, DType dtype, Dims kept, Dims reduced) {
        Problem problem = new Problem(fn, dtype, kept, reduced, kept.elements(), reduced.elements());
        if (dtype.isFloat() && problem.count() > 0) {
            if (reduced.isOne() && reduced.isContiguous() && kept.isOne()) {
                return rows(problem);
            }
            if (reduced.isOne() && kept.isContiguous()) {
                return columns(problem);
            }
        }
        return walks(problem);
    }

    private Launch rows(Problem problem) {
        int pack = problem.pack();
        long stride = problem.kept().stride();
        boolean packed = problem.count() % pack == 0 && stride % pack == 0;
        long accesses = packed ? problem.count() / pack : problem.count();
        int lanes = accesses > LONG_ROW ? THREADS : lanes(accesses, WARP);
        long groups = Math.ceilDiv(problem.results(), (long) (THREADS / lanes));
        long parts = parts(WAVES, groups, accesses / (lanes * ENOUGH_A_THREAD));
        KernelVariant variant = KernelVariant.of(problem.dtype());
        return launch(
                problem,
                kernels.kernel(KernelCatalog.REDUCE_LANES, "reduce_rows", variant),
                LaunchShape.of((int) Math.min(groups, Integer.MAX_VALUE), (int) parts, 1, THREADS),
                parts,
                "reduce_rows, " + lanes + (lanes == 1 ? " thread a row, " : " threads a row, ") + access(packed),
                (arguments, x, y, partial) -> arguments
                        .add(x)
                        .add(y)
                        .add(partial)
                        .add(problem.fn().code())
                        .add(problem.results())
                        .add(problem.count())
                        .add(stride)
                        .add(parts)
                        .add(lanes)
                        .add(packed ? 1 : 0));
    }

    private Launch columns(Problem problem) {
        long stride = problem.reduced().stride();
        boolean packed = stride % problem.pack() == 0 && problem.kept().hasPacks(problem.pack());
        long groups = Math.ceilDiv(problem.results(), (long) WARP * (packed ? problem.pack() : 1));
        long parts = parts(COLUMN_WAVES, groups, problem.count() / (STRANDS * ENOUGH_ROWS));
        KernelVariant variant = KernelVariant.of(problem.dtype());
        MemorySegment kept = problem.kept().walk();
        return launch(
                problem,
                kernels.kernel(KernelCatalog.REDUCE_LANES, "reduce_columns", variant),
                LaunchShape.of((int) Math.min(groups, Integer.MAX_VALUE), (int) parts, 1, THREADS),
                parts,
                "reduce_columns, " + access(packed),
                (arguments, x, y, partial) -> arguments
                        .add(x)
                        .add(y)
                        .add(partial)
                        .add(problem.fn().code())
                        .add(problem.results())
                        .add(problem.count())
                        .add(stride)
                        .add(kept, WalkStruct.ALIGNMENT)
                        .add(parts)
                        .add(packed ? 1 : 0));
    }

    private Launch walks(Problem problem) {
        long results = problem.results();
        long count = problem.count();
        boolean along = problem.reduced().isContiguous() || !problem.kept().isContiguous();
        int lanes = along && count >= LONG_ROW ? THREADS : lanes(count, along ? WARP : STRANDS);
        int across = along ? THREADS / lanes : WARP;
        long groups = Math.ceilDiv(results, (long) across);
        long parts = parts(WAVES, groups, count / (lanes * ENOUGH_A_THREAD));
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
                .withSharedBytes(lanes * across * problem.stateBytes());
        MemorySegment kept = problem.kept().walk();
        MemorySegment reduced = problem.reduced().walk();
        return launch(
                problem,
                kernels.kernel(KernelCatalog.REDUCE, "reduce", KernelFiles.typed(problem.dtype())),
                shape,
                parts,
                "reduce, " + (along ? lanes + " lanes along" : "columns, " + lanes + " strands"),
                (arguments, x, y, partial) -> arguments
                        .add(x)
                        .add(y)
                        .add(partial)
                        .add(problem.fn().code())
                        .add(TypeCodes.of(problem.dtype()))
                        .add(results)
                        .add(count)
                        .add(kept, WalkStruct.ALIGNMENT)
                        .add(reduced, WalkStruct.ALIGNMENT)
                        .add(parts)
                        .add(along ? 1 : 0));
    }

    private Launch launch(
            Problem problem, Kernel kernel, LaunchShape shape, long parts, String tier, Arguments arguments) {
        return new Launch(
                kernel,
                shape,
                arguments,
                parts == 1 ? null : joining(problem, parts),
                parts == 1 ? 0 : SizeMath.product("reduce", problem.results(), parts, problem.stateBytes()),
                parts == 1 ? tier : tier + ", " + parts + " parts");
    }

    private Joining joining(Problem problem, long parts) {
        LaunchShape shape = LaunchShape.of((int) Math.min(problem.results(), Integer.MAX_VALUE), WARP)
                .withSharedBytes(WARP * problem.stateBytes());
        return new Joining(
                kernels.kernel(KernelCatalog.REDUCE, "reduce_parts", KernelFiles.typed(problem.dtype())),
                shape,
                problem.fn().code(),
                TypeCodes.of(problem.dtype()),
                problem.results(),
                problem.count(),
                parts);
    }

    private long parts(int waves, long groups, long most) {
        long wanted = (long) waves * kernels.context().device().multiprocessors();
        return Math.clamp(Math.min(wanted / groups, most), 1, GridLimits.YZ);
    }

    private static String access(boolean packed) {
        return packed ? ACCESS_BYTES + " bytes an access" : "an element an access";
    }

    private static int lanes(long count, int most) {
        return Math.clamp(Long.highestOneBit(Math.max(1, count)), 1, most);
    }

    /** Adds the arguments of the first launch to an empty slab. */
    @FunctionalInterface
    interface Arguments {
        KernelArguments fill(KernelArguments empty, long x, long y, long partial);
    }

    /** The launch that joins parts. */
    record Joining(Kernel kernel, LaunchShape shape, int fn, int type, long results, long count, long parts) {
        void enqueue(GpuStream stream, KernelArguments arguments, long y, long partial) {
            stream.launch(
                    kernel.function(),
                    shape,
                    arguments
                            .clear()
                            .add(partial)
                            .add(y)
                            .add(fn)
                            .add(type)
                            .add(results)
                            .add(count)
                            .add(parts));
        }
    }

    /** A prepared reduction of one or two launches. Immutable. */
    public static final class Launch {
        private final Kernel kernel;
        private final LaunchShape shape;
        private final Arguments filled;
        private final @Nullable Joining joining;
        private final long workspaceBytes;
        private final String tier;

        Launch(
                Kernel kernel,
                LaunchShape shape,
                Arguments filled,
                @Nullable Joining joining,
                long workspaceBytes,
                String tier) {
            this.kernel = kernel;
            this.shape = shape;
            this.filled = filled;
            this.joining = joining;
            this.workspaceBytes = workspaceBytes;
            this.tier = tier;
        }

        /** @param workspace of {@link #workspaceBytes()} */
        public void enqueue(GpuStream stream, KernelArguments arguments, long x, long y, long workspace) {
            stream.launch(kernel.function(), shape, filled.fill(arguments.clear(), x, y, workspace));
            if (joining != null) {
                joining.enqueue(stream, arguments, y, workspace);
            }
        }

        public long workspaceBytes() {
            return workspaceBytes;
        }

        public String tier() {
            return tier;
        }
    }
}
