package dev.tenon.cuda.kernel;

import static dev.tenon.cuda.kernel.KernelFiles.file;
import static dev.tenon.cuda.kernel.KernelFiles.together;
import static dev.tenon.cuda.kernel.ParameterType.COMPUTE;
import static dev.tenon.cuda.kernel.ParameterType.F32;
import static dev.tenon.cuda.kernel.ParameterType.I32;
import static dev.tenon.cuda.kernel.ParameterType.I64;
import static dev.tenon.cuda.kernel.ParameterType.POINTER;

import dev.tenon.core.ir.DType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

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

    public static final KernelFile GEMV = file(
            "contraction/gemv.cu",
            List.of("gemv_along_k", "gemv_across_k"),
            KernelFiles.FLOATS.stream()
                    .flatMap(dtype -> Stream.of(1, 2, 4, 8, 16).map(rows -> rows(dtype, rows)))
                    .toList(),
            together(
                    Collections.nCopies(5, POINTER),
                    Collections.nCopies(3, I64),
                    List.of(I32, COMPUTE, COMPUTE, I32, I32, POINTER, POINTER)));

    private ProductCatalog() {}

    static List<KernelFile> all() {
        return List.of(MATMUL_WMMA, GEMV, GROUPED_MATMUL, GROUPED_MATMUL_MMA);
    }

    /**
     * A tile of results that a block makes on tensor cores.
     *
     * @see #variant
     */
    public enum Tile {
        T128X256(128, 256, 64, 64, 3, 255, 900),
        T128X128(128, 128, 64, 64, 3, 255, 900),
        T128X64(128, 64, 64, 32, 4, 224, 700),
        T64X64(64, 64, 32, 32, 4, 168, 500),
        T32X64(32, 64, 16, 32, 5, 128, 350),
        T16X64(16, 64, 16, 16, 6, 128, 250);

        private static final int STEP_BYTES = 128;
        private static final int PADDING = 8;
        private static final int OLD_STAGES = 2;

        private final int rows;
        private final int columns;
        private final int warpRows;
        private final int warpColumns;
        private final int stages;
        private final int registers;
        private final double rate;

        Tile(int rows, int columns, int warpRows, int warpColumns, int stages, int registers, double rate) {
            this.rows = rows;
            this.columns = columns;
            this.warpRows = warpRows;
            this.warpColumns = warpColumns;
            this.stages = stages;
            this.registers = registers;
            this.rate = rate;
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
            return Math.max(deep * (rows + columns) * STEP_BYTES, rows * (columns + PADDING) * Float.BYTES);
        }

        /** {@code 128x64}. */
        @Override
        public String toString() {
            return rows + "x" + columns;
        }

        /** Whether there are variants for operands that are not packed. */
        public boolean takesUnpacked() {
            return this == T64X64 || this == T16X64;
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
            return takesUnpacked()
                    ? Stream.of(grouped(dtype, true), grouped(dtype, false))
                    : Stream.of(grouped(dtype, true));
        }

        private KernelVariant shaped(DType dtype, String word, boolean packed) {
            return KernelVariant.of(dtype)
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

    /** The variant of a type for so many rows: 1, 2, 4, 8 or 16. */
    public static KernelVariant rows(DType dtype, int rows) {
        return KernelVariant.of(dtype).with("r" + rows, "TENON_ROWS=" + rows);
    }

    private static List<KernelVariant> tiled() {
        List<KernelVariant> all = new ArrayList<>();
        for (DType dtype : TENSOR_CORES) {
            for (Tile tile : Tile.values()) {
                for (int along = 0; along < 4; along++) {
                    all.add(tile.variant(dtype, (along & 1) != 0, (along & 2) != 0, true));
                    if (tile.takesUnpacked()) {
                        all.add(tile.variant(dtype, (along & 1) != 0, (along & 2) != 0, false));
                    }
                }
            }
        }
        return all;
    }
}
