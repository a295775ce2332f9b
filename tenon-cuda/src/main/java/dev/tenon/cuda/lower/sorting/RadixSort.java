package dev.tenon.cuda.lower.sorting;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.IndexingCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Workspace;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;

/**
 * A stable sort of rows of unsigned keys in the workspace, with the places that they came from: three launches for
 * every 8 bits of the keys. Immutable.
 */
public final class RadixSort {
    /** Keys of a row: places are kept in 32 bits. */
    public static final long MOST = (1L << 32) - 2;

    private static final int THREADS = 256;
    private static final int DIGITS = 256;
    private static final int DIGIT_BITS = 8;
    private static final long LEAST_CHUNK = 2048;
    private static final int BLOCKS_A_MULTIPROCESSOR = 8;

    private final long rows;
    private final long n;
    private final int passes;
    private final long[] keys = new long[2];
    private final long[] places = new long[2];
    private final List<LaunchStep.Work> works = new ArrayList<>();

    /** Where the passes of a sort read and write, and how its rows are cut. */
    private record Cut(long counts, long chunks, long chunk) {}

    /**
     * Takes workspace and prepares launches.
     *
     * @param rows at least 1
     * @param n keys of a row, from 1 to {@link #MOST}
     * @param keyBytes 4 or 8
     * @param bits of the keys that matter, the low ones; at least 1
     */
    public RadixSort(Kernels kernels, Workspace workspace, long rows, long n, int keyBytes, int bits) {
        this.rows = rows;
        this.n = n;
        passes = Math.ceilDiv(bits, DIGIT_BITS);
        long all = SizeMath.product("sort", rows, n);
        for (int i = 0; i < 2; i++) {
            keys[i] = workspace.take(SizeMath.product("sort", all, keyBytes));
            places[i] = workspace.take(SizeMath.product("sort", all, Integer.BYTES));
        }
        long blocks =
                (long) BLOCKS_A_MULTIPROCESSOR * kernels.context().device().multiprocessors();
        long wanted = Math.max(1, Math.min(Math.ceilDiv(n, LEAST_CHUNK), blocks / rows));
        long chunk = SizeMath.roundUp("sort", Math.ceilDiv(n, wanted), THREADS);
        long chunks = Math.ceilDiv(n, chunk);
        long counts = workspace.take(SizeMath.product("sort", rows, chunks, DIGITS, Integer.BYTES));
        Cut cut = new Cut(counts, chunks, chunk);
        KernelVariant variant = KernelFiles.width(keyBytes);
        Kernel count = kernels.kernel(IndexingCatalog.RADIX_SORT, "radix_count", variant);
        Kernel offsets = kernels.kernel(IndexingCatalog.RADIX_SORT, "radix_offsets", variant);
        Kernel place = kernels.kernel(IndexingCatalog.RADIX_SORT, "radix_place", variant);
        for (int pass = 0; pass < passes; pass++) {
            add(pass, cut, count, offsets, place);
        }
    }

    private void add(int pass, Cut cut, Kernel count, Kernel offsets, Kernel place) {
        LaunchShape shape = LaunchShape.of((int) cut.chunks(), (int) Math.min(rows, GridLimits.YZ), 1, THREADS)
                .withProgrammatic();
        LaunchShape rowShape =
                LaunchShape.of((int) Math.min(rows, Integer.MAX_VALUE), THREADS).withProgrammatic();
        int shift = pass * DIGIT_BITS;
        long from = keys[pass % 2];
        long to = keys[(pass + 1) % 2];
        long fromPlaces = places[pass % 2];
        long toPlaces = places[(pass + 1) % 2];
        works.add(LaunchStep.launch(
                count,
                shape,
                (arguments, frame) -> arguments
                        .add(frame.workspace() + from)
                        .add(frame.workspace() + cut.counts())
                        .add(rows)
                        .add(n)
                        .add(cut.chunks())
                        .add(cut.chunk())
                        .add(shift)));
        works.add(LaunchStep.launch(
                offsets,
                rowShape,
                (arguments, frame) -> arguments
                        .add(frame.workspace() + cut.counts())
                        .add(rows)
                        .add(cut.chunks())));
        works.add(LaunchStep.launch(
                place,
                shape,
                (arguments, frame) -> arguments
                        .add(frame.workspace() + from)
                        .add(shift == 0 ? 0 : frame.workspace() + fromPlaces)
                        .add(frame.workspace() + to)
                        .add(frame.workspace() + toPlaces)
                        .add(frame.workspace() + cut.counts())
                        .add(rows)
                        .add(n)
                        .add(cut.chunks())
                        .add(cut.chunk())
                        .add(shift)));
    }

    /**
     * The launch that makes the keys of an input's elements, before {@link #works()}.
     *
     * @param kernel top_k_keys for the element's width
     * @param input slot
     * @param inner elements from one of a row to the next
     */
    public LaunchStep.Work keying(Kernel kernel, SortOrder order, int input, boolean descending, long inner) {
        return LaunchStep.launch(
                kernel,
                Grids.of(Math.ceilDiv(SizeMath.product("sort", rows, n), 4L)),
                (arguments, frame) -> arguments
                        .add(frame.at(input))
                        .add(frame.workspace() + keys())
                        .add(order.kind())
                        .add(order.largest())
                        .add(descending ? 1 : 0)
                        .add(rows)
                        .add(n)
                        .add(inner));
    }

    /** Where in the workspace the keys lie that are to be sorted; the sort writes over them. */
    public long keys() {
        return keys[0];
    }

    /** Where in the workspace the sorted keys lie. */
    public long sorted() {
        return keys[passes % 2];
    }

    /** Where in the workspace the place of each sorted key lies, in 32 bits. */
    public long places() {
        return places[passes % 2];
    }

    /** The launches. */
    public List<LaunchStep.Work> works() {
        return List.copyOf(works);
    }

    /** The bytes of a key of unsigned values up to a greatest one. */
    public static int keyBytes(long greatest) {
        return greatest < 1L << 32 ? Integer.BYTES : Long.BYTES;
    }

    /** The bits of unsigned values up to a greatest one, at least 1. */
    public static int bits(long greatest) {
        return Math.max(1, Long.SIZE - Long.numberOfLeadingZeros(greatest));
    }

    /** The bytes of the key of an element, {@code sort_key.cuh}. */
    public static int keyBytes(DType dtype) {
        return Math.max(Integer.BYTES, dtype.bytes());
    }
}
