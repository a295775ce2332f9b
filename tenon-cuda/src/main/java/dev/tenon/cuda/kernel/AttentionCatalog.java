package dev.tenon.cuda.kernel;

import static dev.tenon.cuda.kernel.file.KernelFiles.HALVES;
import static dev.tenon.cuda.kernel.file.KernelFiles.TENSOR_CORES;
import static dev.tenon.cuda.kernel.file.KernelFiles.file;
import static dev.tenon.cuda.kernel.file.KernelFiles.floats;
import static dev.tenon.cuda.kernel.file.KernelFiles.together;
import static dev.tenon.cuda.kernel.file.ParameterType.COMPUTE;
import static dev.tenon.cuda.kernel.file.ParameterType.F32;
import static dev.tenon.cuda.kernel.file.ParameterType.I32;
import static dev.tenon.cuda.kernel.file.ParameterType.I64;
import static dev.tenon.cuda.kernel.file.ParameterType.POINTER;
import static dev.tenon.cuda.kernel.file.ParameterType.STRUCT;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.ParameterType;
import java.util.List;
import java.util.stream.Stream;

/** The kernel files of attention, and the forms that they are compiled in. */
public final class AttentionCatalog {
    /** Head sizes that kernels on tensor cores are compiled for; smaller heads are padded. */
    private static final List<Integer> SIZES = List.of(32, 64, 96, 128, 256);

    private static final List<Integer> WARPGROUP_SIZES = List.of(64, 128);

    /** Operands with strides, the mask with its strides, sizes and rules. */
    private static final List<ParameterType> COMMON = together(
            List.of(POINTER, I64, I64, I64),
            List.of(POINTER, I64, I64, I64),
            List.of(POINTER, I64, I64, I64),
            List.of(POINTER, I64, I64, I64),
            List.of(POINTER, I64, I64, I64, I64),
            List.of(I64, I32, I64, I64, I32, I32, I32, I32, I64));

    private static final List<ParameterType> IN_F32 = together(COMMON, List.of(F32, F32, I32));

    public static final KernelFile ATTENTION = file(
            "attention/attention.cu", List.of("attention"), floats(), together(COMMON, List.of(COMPUTE, COMPUTE, I32)));

    public static final KernelFile ATTENTION_MMA = file(
            "attention/attention_mma.cu",
            List.of("attention_mma"),
            TENSOR_CORES.stream()
                    .flatMap(dtype -> SIZES.stream().flatMap(size -> mmaForms(dtype, size).stream()))
                    .map(MmaForm::variant)
                    .toList(),
            together(IN_F32, List.of(I32)));

    /** Head sizes that {@link #ATTENTION_SHORT} is compiled for. */
    private static final List<Integer> SHORT_SIZES = List.of(32, 64);

    public static final KernelFile ATTENTION_SHORT = file(
            "attention/attention_short.cu",
            List.of("attention_short"),
            TENSOR_CORES.stream()
                    .flatMap(dtype -> SHORT_SIZES.stream()
                            .flatMap(size -> Stream.of(4, 8)
                                    .flatMap(warps -> Stream.of(false, true)
                                            .map(each -> new ShortForm(dtype, size, warps, each)))))
                    .map(ShortForm::variant)
                    .toList(),
            IN_F32);

    public static final KernelFile ATTENTION_DECODE = file(
            "attention/attention_decode.cu",
            List.of("attention_decode"),
            TENSOR_CORES.stream()
                    .flatMap(dtype -> SIZES.stream().map(size -> decodeForm(dtype, size)))
                    .map(DecodeForm::variant)
                    .toList(),
            together(IN_F32, List.of(I32, POINTER, POINTER)));

    public static final KernelFile ATTENTION_WGMMA = file(
            "attention/attention_wgmma.cu",
            List.of("attention_wgmma"),
            HALVES.stream()
                    .flatMap(dtype -> WARPGROUP_SIZES.stream().map(size -> new WarpgroupForm(dtype, size)))
                    .map(WarpgroupForm::variant)
                    .toList(),
            together(IN_F32, List.of(I32, STRUCT, STRUCT, STRUCT)));

    public static final KernelFile ATTENTION_SHORT_WGMMA = file(
            "attention/attention_short_wgmma.cu",
            List.of("attention_short_wgmma"),
            TENSOR_CORES.stream()
                    .flatMap(dtype -> SHORT_SIZES.stream().map(size -> new ShortWarpgroupForm(dtype, size)))
                    .map(ShortWarpgroupForm::variant)
                    .toList(),
            together(IN_F32, List.of(I32, STRUCT, STRUCT, STRUCT)));

    public static final KernelFile ATTENTION_REPAIR = file(
            "attention/attention_repair.cu",
            List.of("attention_repair"),
            HALVES.stream().map(KernelVariant::of).toList(),
            IN_F32);

    /** Operands, offsets, pages and slopes, sizes, rules, the fault word. */
    private static List<ParameterType> ragged(ParameterType real) {
        return together(
                List.of(POINTER, I64, I64, POINTER, I64, I64, I64, POINTER, I64, I64, I64, POINTER, I64, I64),
                List.of(POINTER, POINTER, POINTER, POINTER, I64, I64, I64, I64, I64, I64),
                List.of(I32, I32, I32, I32, I32, I64, real, real, POINTER, I32));
    }

    public static final KernelFile ATTENTION_RAGGED =
            file("attention/attention_ragged.cu", List.of("attention_ragged"), floats(), ragged(COMPUTE));

    public static final KernelFile ATTENTION_MMA_RAGGED = file(
            "attention/attention_mma_ragged.cu",
            List.of("attention_mma_ragged"),
            ATTENTION_MMA.variants(),
            together(ragged(F32), List.of(I32)));

    public static final KernelFile ATTENTION_DECODE_RAGGED = file(
            "attention/attention_decode_ragged.cu",
            List.of("attention_decode_ragged"),
            ATTENTION_DECODE.variants(),
            together(ragged(F32), List.of(I32, POINTER, POINTER)));

    private AttentionCatalog() {}

    static List<KernelFile> all() {
        return List.of(
                ATTENTION,
                ATTENTION_MMA,
                ATTENTION_SHORT,
                ATTENTION_DECODE,
                ATTENTION_WGMMA,
                ATTENTION_SHORT_WGMMA,
                ProjectedForm.FILE,
                ATTENTION_REPAIR,
                ATTENTION_RAGGED,
                ATTENTION_MMA_RAGGED,
                ATTENTION_DECODE_RAGGED);
    }

    /** The size that a head is padded to in shared memory; 0 where it is larger than all. */
    public static int padded(long size) {
        return first(SIZES, size);
    }

    /** The same for few keys. */
    public static int paddedForShort(long size) {
        return first(SHORT_SIZES, size);
    }

    /** The same for products of warpgroups. */
    public static int paddedForWarpgroups(long size) {
        return first(WARPGROUP_SIZES, size);
    }

    private static int first(List<Integer> sizes, long least) {
        return sizes.stream().filter(one -> one >= least).findFirst().orElse(0);
    }

    /** Bytes of a staged row: 16 more than its elements take. */
    private static int rowBytes(DType dtype, int size) {
        return SizeMath.toInt("attention", dtype.bytesFor(size)) + 16;
    }

    private static KernelVariant sized(DType dtype, String word, int size) {
        return KernelVariant.of(dtype)
                .with(word, "TENON_D=" + size)
                .with("", "TENON_FROM=" + ProductCatalog.capability(dtype) * 10);
    }

    /**
     * A form of {@code attention_mma}.
     *
     * @param size what heads are padded to
     * @param rows queries of a warp, in 16s
     * @param keys of a tile
     * @param blocks of a multiprocessor that registers are kept free for
     */
    public record MmaForm(DType dtype, int size, int rows, int keys, int blocks) {
        private static final int WARPS = 4;

        /** Queries of a block. */
        public int queries() {
            return 16 * WARPS * rows;
        }

        @Override
        public String toString() {
            return "heads of " + size + ", " + queries() + " queries a block";
        }

        /** Threads of a block. */
        public int threads() {
            return 32 * WARPS;
        }

        /** Blocks a multiprocessor from which on causal launches gain by this form (H200): the last ones run alone. */
        public int causalBlocks() {
            return size > 64 ? 4 : 1;
        }

        /** Dynamic shared memory of a block: its queries, two tiles of keys and of values, their masks. */
        public int sharedBytes() {
            return (queries() + 4 * keys) * rowBytes(dtype, size) + 2 * keys * Float.BYTES;
        }

        public KernelVariant variant() {
            return sized(dtype, "d" + size + "_" + 16 * rows + "x" + keys, size)
                    .with("", "TENON_ROWS=" + rows)
                    .with("", "TENON_KEYS=" + keys)
                    .with("", "TENON_BLOCKS=" + blocks)
                    .with("", "TENON_WARPS=" + WARPS);
        }
    }

    /** Forms for heads of a padded size, the fastest first where there are queries enough and shared memory. */
    public static List<MmaForm> mmaForms(DType dtype, int size) {
        boolean halves = dtype != DType.F32;
        return switch (size) {
            case 32 ->
                halves
                        ? List.of(new MmaForm(dtype, size, 2, 64, 3), new MmaForm(dtype, size, 1, 64, 4))
                        : List.of(new MmaForm(dtype, size, 1, 64, 4));
            case 64 ->
                halves
                        ? List.of(new MmaForm(dtype, size, 2, 64, 2), new MmaForm(dtype, size, 1, 64, 4))
                        : List.of(new MmaForm(dtype, size, 1, 32, 3));
            case 96 ->
                halves
                        ? List.of(new MmaForm(dtype, size, 2, 64, 1), new MmaForm(dtype, size, 1, 64, 2))
                        : List.of(new MmaForm(dtype, size, 1, 32, 2));
            case 128 ->
                halves
                        ? List.of(
                                new MmaForm(dtype, size, 2, 64, 1),
                                new MmaForm(dtype, size, 1, 64, 2),
                                new MmaForm(dtype, size, 1, 32, 2))
                        : List.of(new MmaForm(dtype, size, 1, 32, 2), new MmaForm(dtype, size, 1, 16, 2));
            default ->
                halves
                        ? List.of(new MmaForm(dtype, size, 1, 32, 1), new MmaForm(dtype, size, 1, 16, 1))
                        : List.of(new MmaForm(dtype, size, 1, 16, 1), new MmaForm(dtype, size, 1, 8, 1));
        };
    }

    /**
     * A form of {@code attention_short}.
     *
     * @param size what heads are padded to
     * @param warps of a block: 4, or 8 where blocks are fewer than multiprocessors
     * @param each whether each query has its own mask
     */
    public record ShortForm(DType dtype, int size, int warps, boolean each) {
        /** Queries of a block. */
        public static final int QUERIES = 128;
        /** Most keys. */
        public static final int MOST_KEYS = 256;

        private static final int TILE = 64;

        /** Threads of a block. */
        public int threads() {
            return 32 * warps;
        }

        /** Dynamic shared memory of a block that has so many queries and keys. */
        public int sharedBytes(long queries, int keys) {
            int staged = queries <= TILE ? TILE : QUERIES;
            int all = Math.ceilDiv(keys, TILE) * TILE;
            return (staged + 2 * all) * rowBytes(dtype, size) + all * Float.BYTES;
        }

        public KernelVariant variant() {
            boolean halves = dtype != DType.F32;
            // blocks of four warps: 96 registers a thread for halves and small heads, which they fill
            int blocks = size == 32 && halves && !each ? 5 : size == 32 || halves ? 4 : 3;
            return sized(dtype, "d" + size + "_w" + warps + (each ? "_each" : ""), size)
                    .with("", "TENON_WARPS=" + warps)
                    .with("", "TENON_EACH=" + (each ? 1 : 0))
                    .with("", "TENON_BLOCKS=" + (warps == 4 ? blocks : 2 - size / 64 * (halves ? 0 : 1)));
        }
    }

    /**
     * A form of {@code attention_decode}.
     *
     * @param size what heads are padded to
     * @param warps of a block
     * @param stages of a warp's keys and values that are on their way or worked on
     */
    public record DecodeForm(DType dtype, int size, int warps, int stages) {
        /** Rows of queries of a block. */
        public static final int ROWS = 16;
        /** Keys that a warp takes at a time. */
        public static final int KEYS = 16;
        /** Most shares of the keys. */
        public static final int MOST_SPLITS = 256;

        /** Threads of a block. */
        public int threads() {
            return 32 * warps;
        }

        /** Dynamic shared memory of a block. */
        public int sharedBytes() {
            return (ROWS + 2 * KEYS * warps * stages) * rowBytes(dtype, size);
        }

        /** What a block leaves in the workspace where keys are split: sums, tops and totals of its rows. */
        public long partBytes() {
            return SizeMath.product("attention", ROWS, size + 2L, Float.BYTES);
        }

        public KernelVariant variant() {
            return sized(dtype, "d" + size, size)
                    .with("", "TENON_WARPS=" + warps)
                    .with("", "TENON_STAGES=" + stages);
        }
    }

    /** The form for heads of a padded size: a stage of a block is at most 34 KiB. */
    public static DecodeForm decodeForm(DType dtype, int size) {
        long bytes = dtype.bytesFor(size);
        return new DecodeForm(dtype, size, bytes <= 256 ? 4 : bytes <= 512 ? 2 : 1, 2);
    }

    /**
     * A form of {@code attention_wgmma}.
     *
     * @param size what heads are padded to
     */
    public record WarpgroupForm(DType dtype, int size) {
        /** Queries of a block, and keys of a tile. */
        public static final int QUERIES = 128;
        /** Elements of a head that the copy engine fetches at a time. */
        public static final int BOX = 64;
        /** Threads of a block. */
        public static final int THREADS = 384;

        private static final int STAGES = 2;
        private static final int TILE_BYTES = 128 * 128; // of 64 elements
        private static final int MASK_BYTES = 128 * Float.BYTES;
        private static final int BOUNDARY = 1024;

        /** Dynamic shared memory of a block. */
        public int sharedBytes() {
            return BOUNDARY + (1 + 2 * STAGES) * (size / 64) * TILE_BYTES + STAGES * MASK_BYTES;
        }

        public KernelVariant variant() {
            return ofWarpgroups(dtype, size);
        }
    }

    private static KernelVariant ofWarpgroups(DType dtype, int size) {
        return KernelVariant.of(dtype).with("", KernelVariant.SPECIFIC).with("d" + size, "TENON_D=" + size);
    }

    /**
     * A form of {@code attention_short_wgmma}.
     *
     * @param size what heads are padded to
     */
    public record ShortWarpgroupForm(DType dtype, int size) {
        /** Queries of a block, and most keys. */
        public static final int TOKENS = 128;
        /** Threads of a block. */
        public static final int THREADS = 256;

        private static final int STAGES = 2;
        private static final int LINE = 128;
        private static final int BOUNDARY = 1024;

        /** Elements of a head that the copy engine fetches at a time. */
        public int box() {
            return Math.min(size, LINE / dtype.bytes());
        }

        /** Blocks that a multiprocessor holds. */
        public int blocks() {
            return isTurned() ? 1 : 2;
        }

        /** Dynamic shared memory of a block. */
        public int sharedBytes() {
            int tile = TOKENS * SizeMath.toInt("attention", dtype.bytesFor(size));
            return BOUNDARY + STAGES * 3 * tile + (isTurned() ? tile : 0);
        }

        /** Whether values are turned first: products of TF32 read both operands along their depth. */
        private boolean isTurned() {
            return dtype == DType.F32;
        }

        public KernelVariant variant() {
            return ofWarpgroups(dtype, size);
        }
    }
}
