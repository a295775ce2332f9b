package dev.tenon.cuda.kernel;

import static dev.tenon.cuda.kernel.file.KernelFiles.HALVES;
import static dev.tenon.cuda.kernel.file.KernelFiles.file;
import static dev.tenon.cuda.kernel.file.KernelFiles.together;
import static dev.tenon.cuda.kernel.file.ParameterType.F32;
import static dev.tenon.cuda.kernel.file.ParameterType.I32;
import static dev.tenon.cuda.kernel.file.ParameterType.I64;
import static dev.tenon.cuda.kernel.file.ParameterType.POINTER;
import static dev.tenon.cuda.kernel.file.ParameterType.STRUCT;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.ParameterType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The kernel files of matrix products beside the plain ones: on tensor cores, of few rows, of groups. */
public final class ProductCatalog {
    /** The number of no function: the argument as it is. */
    public static final int NO_FUNCTION = KernelCatalog.NO_FUNCTION;

    private static final List<DType> TENSOR_CORES = List.of(DType.F32, DType.F16, DType.BF16);

    public static final KernelFile MATMUL_WMMA = file(
            "contraction/matmul_wmma.cu",
            List.of("matmul_wmma"),
            tiled(),
            together(
                    Collections.nCopies(5, POINTER),
                    Collections.nCopies(15, I64),
                    List.of(I32, F32, F32, I32, I32, POINTER, POINTER)));

    private static final List<ParameterType> GROUPED =
            together(Collections.nCopies(4, POINTER), Collections.nCopies(4, I64), List.of(I32, I32, POINTER, I32));

    public static final KernelFile GROUPED_MATMUL =
            file("contraction/grouped_matmul.cu", List.of("grouped_matmul"), KernelFiles.floats(), GROUPED);

    public static final KernelFile GROUPED_MATMUL_MMA = file(
            "contraction/grouped_matmul_mma.cu",
            List.of("grouped_matmul_mma"),
            TENSOR_CORES.stream()
                    .flatMap(dtype -> Stream.of(Tile.values()).flatMap(tile -> tile.allGrouped(dtype)))
                    .toList(),
            GROUPED);

    /** Columns of tiles that {@link #GROUPED_MATMUL_WGMMA} and {@link #MATMUL_WGMMA} are compiled for. */
    private static final List<Integer> RING_COLUMNS = List.of(128, 192, 256);

    /** Those of f32, whose sums take twice the registers. */
    private static final List<Integer> TF32_COLUMNS = List.of(128, 192);

    /** Groups that {@link #GROUPED_MATMUL_WGMMA} takes at most: it has a table of them in shared memory. */
    public static final int MOST_GROUPS = 1024;

    public static final KernelFile GROUPED_MATMUL_WGMMA = file(
            "contraction/grouped_matmul_wgmma.cu",
            List.of("grouped_matmul_wgmma"),
            HALVES.stream()
                    .flatMap(dtype -> RING_COLUMNS.stream().map(columns -> groupedRing(dtype, columns)))
                    .toList(),
            List.of(STRUCT, STRUCT, POINTER, POINTER, I64, I64, I64, I32, I32, POINTER, I32));

    /**
     * Functions that {@link #MATMUL_ROWS} and {@link #MATMUL_WGMMA} apply: the usual activations that libraries leave
     * to another pass.
     */
    public static final List<UnaryFn> ROWS_FUNCTIONS = List.of(UnaryFn.GELU, UnaryFn.GELU_TANH, UnaryFn.SILU);

    /** Lengths of sums that {@link #MATMUL_ROWS} is compiled for, in 64 elements; shorter sums are padded. */
    public static final List<Integer> ROWS_STEPS = List.of(2, 3, 4, 6);

    public static final KernelFile MATMUL_ROWS = file(
            "contraction/matmul_rows.cu",
            List.of("matmul_rows"),
            warpgroups(HALVES, ROWS_STEPS, List.of(true, false), ProductCatalog::rows)
                    .toList(),
            List.of(STRUCT, STRUCT, POINTER, POINTER, I64, I64, I32, F32, F32));

    public static final KernelFile MATMUL_WGMMA = file(
            "contraction/matmul_wgmma.cu",
            List.of("matmul_wgmma"),
            Stream.concat(
                            warpgroups(HALVES, RING_COLUMNS, List.of(true, false), ProductCatalog::ring),
                            warpgroups(List.of(DType.F32), TF32_COLUMNS, List.of(true), ProductCatalog::ring))
                    .toList(),
            List.of(STRUCT, STRUCT, POINTER, POINTER, I64, I64, I32, F32, F32));

    private static final WarpgroupVariant PARTS = (dtype, fn, _, alongB) -> parts(dtype, fn, alongB);

    public static final KernelFile MATMUL_PARTS = file(
            "contraction/matmul_parts.cu",
            List.of("matmul_parts"),
            Stream.concat(
                            warpgroups(HALVES, List.of(0), List.of(true, false), PARTS),
                            warpgroups(List.of(DType.F32), List.of(0), List.of(true), PARTS))
                    .toList(),
            List.of(STRUCT, STRUCT, POINTER, POINTER, I64, I64, I32, F32, F32, POINTER));

    /** Columns of tiles that {@link #MATMUL_NORM} is compiled for. */
    private static final List<Integer> NORM_COLUMNS = List.of(128, 192, 256);

    public static final KernelFile MATMUL_NORM = file(
            "contraction/matmul_norm.cu",
            List.of("matmul_norm"),
            Stream.concat(HALVES.stream(), Stream.of(DType.F32))
                    .flatMap(dtype -> (dtype == DType.F32 ? TF32_COLUMNS : NORM_COLUMNS)
                            .stream()
                                    .flatMap(columns ->
                                            Stream.of(true, false).map(centred -> norm(dtype, centred, columns))))
                    .toList(),
            together(
                    Collections.nCopies(3, STRUCT),
                    Collections.nCopies(4, POINTER),
                    List.of(I64, I64, I32, I32, I32, F32, F32, POINTER, POINTER)));

    private ProductCatalog() {}

    static List<KernelFile> all() {
        return List.of(
                MATMUL_WMMA,
                GemvCatalog.GEMV,
                GROUPED_MATMUL,
                GROUPED_MATMUL_MMA,
                GROUPED_MATMUL_WGMMA,
                MATMUL_ROWS,
                MATMUL_WGMMA,
                MATMUL_PARTS,
                MATMUL_NORM);
    }

    /**
     * A variant of {@link #MATMUL_ROWS}.
     *
     * @param fn one of {@link #ROWS_FUNCTIONS}; null for none
     * @param steps one of {@link #ROWS_STEPS}
     * @param alongB whether the right operand lies along k
     */
    public static KernelVariant rows(DType dtype, @Nullable UnaryFn fn, int steps, boolean alongB) {
        return warpgroups(dtype, fn)
                .with("s" + steps, "TENON_STEPS=" + steps)
                .with(alongB ? "k" : "n", "TENON_ALONG_B=" + (alongB ? 1 : 0));
    }

    /**
     * A variant of {@link #GROUPED_MATMUL_WGMMA}.
     *
     * @param columns of tiles, 128, 192 or 256
     */
    public static KernelVariant groupedRing(DType dtype, int columns) {
        return KernelVariant.of(dtype).with("", KernelVariant.SPECIFIC).with("c" + columns, "TENON_COLUMNS=" + columns);
    }

    /**
     * A variant of {@link #MATMUL_WGMMA}.
     *
     * @param fn one of {@link #ROWS_FUNCTIONS}; null for none
     * @param columns of tiles, 128, 192 or 256
     * @param alongB whether the right operand lies along k
     */
    public static KernelVariant ring(DType dtype, @Nullable UnaryFn fn, int columns, boolean alongB) {
        return warpgroups(dtype, fn)
                .with("c" + columns, "TENON_COLUMNS=" + columns)
                .with(alongB ? "k" : "n", "TENON_ALONG_B=" + (alongB ? 1 : 0));
    }

    /**
     * A variant of {@link #MATMUL_PARTS}.
     *
     * @param fn one of {@link #ROWS_FUNCTIONS}; null for none
     * @param alongB whether the right operand lies along k
     */
    public static KernelVariant parts(DType dtype, @Nullable UnaryFn fn, boolean alongB) {
        return warpgroups(dtype, fn).with(alongB ? "k" : "n", "TENON_ALONG_B=" + (alongB ? 1 : 0));
    }

    /**
     * A variant of {@link #MATMUL_NORM}.
     *
     * @param centred LayerNorm rather than RmsNorm
     * @param columns of tiles, 128, 192 or 256
     */
    public static KernelVariant norm(DType dtype, boolean centred, int columns) {
        return KernelVariant.of(dtype)
                .with("", KernelVariant.SPECIFIC)
                .with(centred ? "layer" : "rms", "TENON_CENTRED=" + (centred ? 1 : 0))
                .with("c" + columns, "TENON_COLUMNS=" + columns);
    }

    private static KernelVariant warpgroups(DType dtype, @Nullable UnaryFn fn) {
        return KernelVariant.of(dtype)
                .with("", KernelVariant.SPECIFIC)
                .with(fn == null ? "plain" : fn.word(), "TENON_FN=" + (fn == null ? NO_FUNCTION : fn.code()));
    }

    private interface WarpgroupVariant {
        KernelVariant of(DType dtype, @Nullable UnaryFn fn, int size, boolean alongB);
    }

    private static Stream<KernelVariant> warpgroups(
            List<DType> dtypes, List<Integer> sizes, List<Boolean> along, WarpgroupVariant variant) {
        return dtypes.stream()
                .flatMap(dtype -> Stream.concat(
                                ROWS_FUNCTIONS.stream().map(Optional::of), Stream.of(Optional.<UnaryFn>empty()))
                        .flatMap(fn -> sizes.stream()
                                .flatMap(size ->
                                        along.stream().map(is -> variant.of(dtype, fn.orElse(null), size, is)))));
    }

    /**
     * A tile of results that a block makes on tensor cores.
     *
     * @see #variant
     */
    public enum Tile {
        W128X256(128, 256, 16, 256, 4, 2, 255, 3700),
        W128X128(128, 128, 16, 128, 4, 2, 144, 3500),
        W64X128(64, 128, 16, 128, 4, 1, 144, 3000),
        W64X64(64, 64, 16, 64, 4, 1, 120, 2500),
        T128X256(128, 256, 64, 64, 3, 0, 255, 2200),
        T128X128(128, 128, 64, 64, 3, 0, 255, 2000),
        T128X64(128, 64, 64, 32, 4, 0, 240, 1500),
        T64X64(64, 64, 32, 32, 4, 0, 160, 1200),
        T32X64(32, 64, 16, 32, 5, 0, 128, 900),
        T16X64(16, 64, 16, 16, 6, 0, 96, 500);

        private static final int STEP_BYTES = 128;
        private static final int PADDING = 8;
        private static final int BOUNDARY = 1024;
        private static final int OLD_STAGES = 2;

        private final int rows;
        private final int columns;
        private final int warpRows;
        private final int warpColumns;
        private final int stages;
        private final int lag;
        private final int registers;
        private final double rate;

        Tile(int rows, int columns, int warpRows, int warpColumns, int stages, int lag, int registers, double rate) {
            this.rows = rows;
            this.columns = columns;
            this.warpRows = warpRows;
            this.warpColumns = warpColumns;
            this.stages = stages;
            this.lag = lag;
            this.registers = registers;
            this.rate = rate;
        }

        /** Whether it is made of products of whole warpgroups, which capability 9.0 alone has. */
        public boolean ofWarpgroups() {
            return lag > 0;
        }

        /** Registers of a thread, at most. */
        public int registers() {
            return registers;
        }

        /** Bytes of k that a multiprocessor multiplies and adds in a clock; from an H200. */
        public double rate() {
            return rate;
        }

        /** Rows of results. */
        public int rows() {
            return rows;
        }

        /** Columns of results. */
        public int columns() {
            return columns;
        }

        /** Threads of a block. */
        public int threads() {
            return rows / warpRows * (columns / warpColumns) * 32;
        }

        /**
         * Dynamic shared memory of a block: its stages of 128 bytes of k, or its sums in f32.
         *
         * @param capability of the device, such as 80
         */
        public int sharedBytes(int capability) {
            int deep = capability < 80 ? OLD_STAGES : stages;
            int most = Math.max(deep * (rows + columns) * STEP_BYTES, rows * (columns + PADDING) * Float.BYTES);
            return ofWarpgroups() ? most + BOUNDARY : most;
        }

        /** {@code 128x64}; {@code 128x64w} of warpgroups. */
        @Override
        public String toString() {
            return rows + "x" + columns + (ofWarpgroups() ? "w" : "");
        }

        /**
         * Whether there is a variant.
         *
         * @param alongA whether the left operand lies along k
         * @param packed whether lines of both operands are whole 16-byte chunks
         */
        public boolean takes(DType dtype, boolean alongA, boolean packed) {
            boolean any = this == T64X64 || this == T16X64;
            return any || (alongA && packed && (!ofWarpgroups() || dtype != DType.F32));
        }

        /**
         * The variant of a type whose operands lie along k or across it.
         *
         * @param packed whether lines of both operands are whole 16-byte chunks
         */
        public KernelVariant variant(DType dtype, boolean alongA, boolean alongB, boolean packed) {
            return shaped(dtype, (alongA ? "k" : "m") + (alongB ? "k" : "n"), packed)
                    .with("", "TENON_ALONG_A=" + (alongA ? 1 : 0))
                    .with("", "TENON_ALONG_B=" + (alongB ? 1 : 0));
        }

        /**
         * The variant of a type for groups of rows.
         *
         * @param packed likewise
         */
        public KernelVariant grouped(DType dtype, boolean packed) {
            return shaped(dtype, "", packed);
        }

        private Stream<KernelVariant> allGrouped(DType dtype) {
            return Stream.of(true, false)
                    .filter(packed -> takes(dtype, true, packed))
                    .map(packed -> grouped(dtype, packed));
        }

        private KernelVariant shaped(DType dtype, String word, boolean packed) {
            KernelVariant plain = KernelVariant.of(dtype);
            return (ofWarpgroups() ? plain.with("", KernelVariant.SPECIFIC) : plain)
                    .with("", "TENON_LAG=" + lag)
                    .with(this + word + (packed ? "" : "_unpacked"), "TENON_TILE_M=" + rows)
                    .with("", "TENON_PACKED=" + (packed ? 1 : 0))
                    .with("", "TENON_TILE_N=" + columns)
                    .with("", "TENON_WARP_M=" + warpRows)
                    .with("", "TENON_WARP_N=" + warpColumns)
                    .with("", "TENON_STAGES=" + stages)
                    .with("", "TENON_FROM=" + capability(dtype) * 10);
        }
    }

    /** The least compute capability, such as 80, whose tensor cores take a type. */
    public static int capability(DType dtype) {
        return dtype == DType.F16 ? 75 : 80;
    }

    private static List<KernelVariant> tiled() {
        List<KernelVariant> all = new ArrayList<>();
        for (DType dtype : TENSOR_CORES) {
            for (Tile tile : Tile.values()) {
                for (int flags = 0; flags < 8; flags++) {
                    boolean alongA = (flags & 1) == 0;
                    boolean packed = (flags & 4) == 0;
                    if (tile.takes(dtype, alongA, packed)) {
                        all.add(tile.variant(dtype, alongA, (flags & 2) == 0, packed));
                    }
                }
            }
        }
        return all;
    }
}
