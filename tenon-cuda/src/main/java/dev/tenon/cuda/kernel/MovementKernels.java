package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Copies of elements between places a fixed distance apart: prepares launches. Thread-safe. */
public final class MovementKernels {
    /** Dims that kernels walk; those of size 1 do not count. */
    public static final int MOST_DIMS = 8;

    private static final int ACCESS = 16;
    private static final int TILE = 32;
    private static final int TILE_ROWS = 8;
    private static final int WIDE_TILE = 64;

    /** Tiles of rows whose blocks follow each other, as the source says. */
    private static final int TILES_TOGETHER = 4;

    private static final int ACCESS_BYTES = 16;
    private static final int THREADS = 256;
    private static final int FEW_THREADS = 128;

    /** Elements of a thread of strided_copy, as its source says. */
    private static final int AHEAD = 4;

    private static final long LEAST_TILED = 4; // narrower matrices leave most of a tile idle

    private final Kernels kernels;

    public MovementKernels(Kernels kernels) {
        this.kernels = kernels;
    }

    /** A prepared copy. Immutable. */
    public interface Move {
        /** Enqueues it; both addresses on 16-byte boundaries, values not overlapping. */
        void enqueue(GpuStream stream, KernelArguments arguments, long x, long y);

        /** Which implementation it is. */
        String tier();
    }

    /**
     * y[toOffset + i · toStrides] = x[fromOffset + i · fromStrides] for all i below the sizes, at least one; in
     * elements of {@code bytes} bytes (1, 2, 4, 8). Strides of x may be negative or 0.
     */
    public Move strided(int bytes, long[] sizes, long fromOffset, long[] fromStrides, long toOffset, long[] toStrides) {
        Dims dims = Dims.collapsed(sizes, fromStrides, toStrides);
        int last = dims.count() - 1;
        long x = fromOffset * bytes;
        long y = toOffset * bytes;
        if (last < 0 || (dims.from(last) == 1 && dims.to(last) == 1)) {
            int unit = unit(bytes, dims, x, y);
            if (last == 0 && x % 16 == 0 && y % 16 == 0) {
                return new Whole(new CopyKernel(kernels), x, y, SizeMath.product("copy", dims.size(0), bytes));
            }
            return copy(unit, dims.inUnits(unit / bytes), x, y);
        }
        int narrow = dims.to(last) == 1 && dims.size(last) < LEAST_TILED ? dims.besideLast() : -1;
        if (narrow >= 0) {
            return narrow(bytes, dims, narrow, x, y);
        }
        int tiled = dims.to(last) == 1 && dims.size(last) >= LEAST_TILED ? dims.contiguousInput() : -1;
        return tiled >= 0 ? tiles(bytes, dims, tiled, x, y) : copy(bytes, dims, x, y);
    }

    /** The widest access, up to 16 bytes, that cuts runs of so many bytes into whole pieces. */
    public static int widest(long runBytes) {
        return (int) Math.min(16, Long.lowestOneBit(runBytes));
    }

    /** An access in words, as tiers tell it. */
    public static String access(int bytes) {
        return bytes + (bytes == 1 ? " byte" : " bytes") + " an access";
    }

    /** The widest access, up to 16 bytes, that cuts every run and meets every address on its boundary. */
    private static int unit(int bytes, Dims dims, long x, long y) {
        long all = x | y | 16;
        int last = dims.count() - 1;
        for (int d = 0; d <= last; d++) {
            all |= d == last
                    ? SizeMath.product("copy", dims.size(d), bytes)
                    : dims.from(d) * bytes | dims.to(d) * bytes;
        }
        return last < 0 ? bytes : widest(all);
    }

    private Move copy(int unit, Dims dims, long x, long y) {
        return new Strided(
                kernels.kernel(KernelCatalog.STRIDED_COPY, "strided_copy", KernelFiles.width(unit)),
                Grids.of(Math.ceilDiv(dims.elements(), (long) AHEAD)),
                x,
                y,
                dims.elements(),
                dims.walk(),
                "strided_copy, " + access(unit));
    }

    private Move narrow(int bytes, Dims dims, int row, long x, long y) {
        int last = dims.count() - 1;
        long count = dims.size(row);
        long width = dims.size(last);
        Dims batch = dims.without(row, last);
        long edges = (x | y) | (count | dims.from(last)) * bytes;
        for (int d = 0; d < batch.count(); d++) {
            edges |= (batch.from(d) | batch.to(d)) * bytes;
        }
        boolean packed = edges % ACCESS == 0;
        return new Narrow(
                kernels.kernel(KernelCatalog.TRANSPOSE, "transpose_narrow", KernelFiles.width(bytes)),
                Grids.of(SizeMath.product("copy", batch.elements(), packed ? count / (ACCESS / bytes) : count)),
                x,
                y,
                batch.elements(),
                batch.walk(),
                count,
                width,
                dims.from(last),
                packed);
    }

    private Move tiles(int bytes, Dims dims, int row, long x, long y) {
        int last = dims.count() - 1;
        long rows = dims.size(row);
        long cols = dims.size(last);
        Dims batch = dims.without(row, last);
        boolean packed = cutsPacks(bytes, dims, row, x, y);
        int tile = !packed || bytes >= Integer.BYTES ? TILE : WIDE_TILE;
        int together = packed ? TILES_TOGETHER : 1;
        LaunchShape shape = new LaunchShape(
                (int) Math.min(Math.ceilDiv(cols, tile) * together, Integer.MAX_VALUE),
                (int) Math.min(Math.ceilDiv(rows, (long) tile * together), GridLimits.YZ),
                (int) Math.min(batch.elements(), GridLimits.YZ),
                packed ? (bytes == Integer.BYTES ? FEW_THREADS : THREADS) : TILE,
                packed ? 1 : TILE_ROWS,
                1,
                0,
                false,
                1,
                false);
        String entry = packed ? "transpose_packs" : "transpose";
        return new Tiled(
                kernels.kernel(KernelCatalog.TRANSPOSE, entry, KernelFiles.width(bytes)),
                shape,
                x,
                y,
                batch.elements(),
                batch.walk(),
                rows,
                cols,
                dims.from(last),
                dims.to(row),
                "transpose, tiles of " + tile + " x " + tile + ", " + access(packed ? ACCESS_BYTES : bytes));
    }

    /** Whether 16 bytes at a time cut every run of a transpose, on both sides, and meet every address. */
    private static boolean cutsPacks(int bytes, Dims dims, int row, long x, long y) {
        int last = dims.count() - 1;
        long all = x | y;
        all |= SizeMath.product("transpose", dims.size(row), bytes);
        all |= SizeMath.product("transpose", dims.size(last), bytes);
        for (int d = 0; d <= last; d++) {
            all |= d == row ? 0 : dims.from(d) * bytes;
            all |= d == last ? 0 : dims.to(d) * bytes;
        }
        return all % ACCESS_BYTES == 0;
    }

    /** The dims of a copy: those of one element are gone, and neighbours that both sides walk as one are one. */
    private record Dims(List<long[]> all) {
        static Dims collapsed(long[] sizes, long[] from, long[] to) {
            List<long[]> kept = new ArrayList<>();
            for (int d = 0; d < sizes.length; d++) {
                long[] outer = kept.isEmpty() ? null : kept.getLast();
                if (sizes[d] == 1) {
                    continue;
                }
                if (outer != null && outer[1] == from[d] * sizes[d] && outer[2] == to[d] * sizes[d]) {
                    kept.set(kept.size() - 1, new long[] {outer[0] * sizes[d], from[d], to[d]});
                } else {
                    kept.add(new long[] {sizes[d], from[d], to[d]});
                }
            }
            return new Dims(kept);
        }

        int count() {
            return all.size();
        }

        long size(int d) {
            return all.get(d)[0];
        }

        long from(int d) {
            return all.get(d)[1];
        }

        long to(int d) {
            return all.get(d)[2];
        }

        long elements() {
            return all.stream().mapToLong(dim -> dim[0]).reduce(1, Math::multiplyExact);
        }

        /** A dim, not the last, along which the input's elements are neighbours; -1 for none. */
        int contiguousInput() {
            for (int d = 0; d < count() - 1; d++) {
                if (from(d) == 1 && size(d) >= LEAST_TILED) {
                    return d;
                }
            }
            return -1;
        }

        /** A dim along which the input has its elements side by side, the result but for its last dim; -1 for none. */
        int besideLast() {
            int last = count() - 1;
            for (int d = 0; d < last; d++) {
                if (from(d) == 1 && to(d) == size(last) && size(d) > size(last)) {
                    return d;
                }
            }
            return -1;
        }

        Dims without(int one, int other) {
            List<long[]> rest = new ArrayList<>();
            for (int d = 0; d < count(); d++) {
                if (d != one && d != other) {
                    rest.add(all.get(d));
                }
            }
            return new Dims(rest);
        }

        /** The same in elements {@code factor} times as wide; the last dim is contiguous on both sides. */
        Dims inUnits(int factor) {
            List<long[]> wider = new ArrayList<>();
            for (int d = 0; d < count(); d++) {
                long[] dim = all.get(d);
                wider.add(
                        d == count() - 1
                                ? new long[] {dim[0] / factor, 1, 1}
                                : new long[] {dim[0], dim[1] / factor, dim[2] / factor});
            }
            return new Dims(wider);
        }

        MemorySegment walk() {
            return WalkStruct.of(
                    2,
                    all.stream().mapToLong(dim -> dim[0]).toArray(),
                    all.stream().mapToLong(dim -> dim[1]).toArray(),
                    all.stream().mapToLong(dim -> dim[2]).toArray());
        }
    }

    private record Whole(CopyKernel kernel, long fromByte, long toByte, long bytes) implements Move {
        @Override
        public void enqueue(GpuStream stream, KernelArguments arguments, long x, long y) {
            kernel.enqueue(stream, arguments, x + fromByte, y + toByte, bytes);
        }

        @Override
        public String tier() {
            return "copy";
        }
    }

    private record Strided(
            Kernel kernel,
            LaunchShape shape,
            long fromByte,
            long toByte,
            long elements,
            MemorySegment walk,
            String tier)
            implements Move {
        @Override
        public void enqueue(GpuStream stream, KernelArguments arguments, long x, long y) {
            stream.launch(
                    kernel.function(),
                    shape,
                    arguments
                            .clear()
                            .add(x + fromByte)
                            .add(y + toByte)
                            .add(elements)
                            .add(walk, WalkStruct.ALIGNMENT));
        }
    }

    private record Tiled(
            Kernel kernel,
            LaunchShape shape,
            long fromByte,
            long toByte,
            long batches,
            MemorySegment batch,
            long rows,
            long cols,
            long strideX,
            long strideY,
            String tier)
            implements Move {
        @Override
        public void enqueue(GpuStream stream, KernelArguments arguments, long x, long y) {
            stream.launch(
                    kernel.function(),
                    shape,
                    arguments
                            .clear()
                            .add(x + fromByte)
                            .add(y + toByte)
                            .add(batches)
                            .add(batch, WalkStruct.ALIGNMENT)
                            .add(rows)
                            .add(cols)
                            .add(strideX)
                            .add(strideY));
        }
    }

    private record Narrow(
            Kernel kernel,
            LaunchShape shape,
            long fromByte,
            long toByte,
            long batches,
            MemorySegment batch,
            long count,
            long width,
            long strideX,
            boolean packed)
            implements Move {
        @Override
        public void enqueue(GpuStream stream, KernelArguments arguments, long x, long y) {
            stream.launch(
                    kernel.function(),
                    shape,
                    arguments
                            .clear()
                            .add(x + fromByte)
                            .add(y + toByte)
                            .add(batches)
                            .add(batch, WalkStruct.ALIGNMENT)
                            .add(count)
                            .add(width)
                            .add(strideX)
                            .add(packed ? 1 : 0));
        }

        @Override
        public String tier() {
            return "transpose_narrow, " + (packed ? access(ACCESS) : "element by element");
        }
    }
}
