package dev.tenon.cpu.matmul;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Start;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.Records;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One product C[m, n] = epilogue(A[m, k] B[k, n]) of f32 or short floats with f32 sums, by blocks of rows and columns:
 * what the steps of matmul and its grouped form run.
 *
 * <p>f32 operands in order are read where they lie. Anything else passes through the worker's workspace: short floats
 * and transposed rows of A, panels of a B that is not packed beforehand or is packed in a short type (so that a
 * half-precision weight stays half as large in memory), and results of a short type.
 */
final class FloatProduct {
    /** Bytes of a block of A: half of a second-level cache of 1 MiB, so that panels of B stream through the rest. */
    private static final long A_BYTES = 512 * 1024;

    private static final int MOST_ROWS = 256;

    /**
     * Bytes of the panels that a block of columns reads; they stay in the second-level cache from one block of rows to
     * the next.
     */
    private static final long B_BYTES = 2048 * 1024;

    /** Blocks that are made once. */
    private static final int KEPT_BLOCKS = 64;

    private final DType dtype;
    private final int k;
    private final int n;
    private final boolean transposeA;
    private final boolean transposeB;
    private final boolean packed;
    private final boolean bias;
    private final boolean residual;
    private final @Nullable Unary activation;
    private final int blockRows;
    private final int blockColumns;
    private final long edgeAt = 0;
    private final long aAt;
    private final long bAt;
    private final long rawAt;
    private final long cAt;
    private final long biasAt;
    private final long rowAt;
    private final long workspaceBytes;
    private final @Nullable Block[] blocks = new @Nullable Block[KEPT_BLOCKS];

    /**
     * How the operands lie in memory.
     *
     * @param packed whether B comes in panels ({@link #pack})
     */
    record Form(boolean transposeA, boolean transposeB, boolean packed) {}

    /** @param units how many blocks are wanted at least, for that many pieces of parallel work */
    FloatProduct(DType dtype, long m, int k, int n, Form form, Epilogue epilogue, long units) {
        this.dtype = dtype;
        this.k = k;
        this.n = n;
        this.transposeA = form.transposeA;
        this.transposeB = form.transposeB;
        this.packed = form.packed;
        this.bias = epilogue.bias();
        this.residual = epilogue.residual();
        this.activation = epilogue.activation();
        int rows = Math.clamp(A_BYTES / (4L * Math.max(k, 1)) / 8 * 8, 8, MOST_ROWS);
        rows = (int) Math.min(rows, Math.max(m, 1));
        int columns = Math.clamp(B_BYTES / (4L * Math.max(k, 1)) / Gemm.NR * Gemm.NR, Gemm.NR, 1 << 20);
        columns = (int) Math.min(columns, Math.ceilDiv(Math.max(n, 1), Gemm.NR) * (long) Gemm.NR);
        while (blocks(m, rows) * blocks(n, columns) < units && (rows > 32 || columns > Gemm.NR)) {
            // B that is not packed is packed once for each block of rows: split those last
            if (rows > 32 && (packed || columns <= Gemm.NR) && rows * 4 >= columns) {
                rows = Math.ceilDiv(rows / 2, 8) * 8;
            } else if (columns > Gemm.NR) {
                columns = Math.max(Gemm.NR, Math.ceilDiv(columns / 2, Gemm.NR) * Gemm.NR);
            } else {
                rows = Math.ceilDiv(rows / 2, 8) * 8;
            }
        }
        blockRows = rows;
        blockColumns = columns;
        Layout layout = new Layout();
        layout.take(Gemm.EDGE_BYTES);
        aAt = layout.take(aDirect() ? 0 : 4L * rows * k);
        bAt = layout.take(packed && dtype == DType.F32 ? 0 : 4L * columns * k);
        rawAt = layout.take(dtype == DType.F32 ? 0 : 4L * Math.max(k, Gemm.NR));
        cAt = layout.take(dtype == DType.F32 ? 0 : 4L * rows * columns);
        biasAt = layout.take(bias && dtype != DType.F32 ? 4L * columns : 0);
        rowAt = layout.take(residual && dtype != DType.F32 ? 4L * columns : 0);
        workspaceBytes = layout.bytes();
    }

    private static long blocks(long size, int block) {
        return Math.ceilDiv(size, (long) block);
    }

    private boolean aDirect() {
        return dtype == DType.F32 && !transposeA;
    }

    long rowBlocks(long m) {
        return blocks(m, blockRows);
    }

    long columnBlocks() {
        return blocks(n, blockColumns);
    }

    int blockRows() {
        return blockRows;
    }

    long workspaceBytes() {
        return workspaceBytes;
    }

    /** How a constant B of that type is prepared: for each matrix its panels, in its own type. */
    static CpuLoweringContext.Prepared pack(ConstantData data, MemorySegment dense, int k, int n, boolean transposed) {
        int width = data.type().dtype().bytes();
        long each = Gemm.packedBytes(k, n) / 4 * width;
        long matrices = data.type().shape().elements() / Math.max(1, (long) k * n);
        return new CpuLoweringContext.Prepared(matrices * each, to -> {
            for (long i = 0; i < matrices; i++) {
                long from = i * k * n;
                Panels.Matrix b = transposed
                        ? new Panels.Matrix(dense, from, 1, k, k, n)
                        : new Panels.Matrix(dense, from, n, 1, k, n);
                Panels.pack(width, b, to, i * each);
            }
        });
    }

    /** Bytes of one packed matrix. */
    long packedBytes() {
        return dtype.bytesFor(Gemm.packedBytes(k, n) / 4);
    }

    /**
     * The operands of one product.
     *
     * @param aFrom where A begins in its memory, in elements; {@code lda} from a row (of a transposed A: from a column)
     *     to the next
     * @param bFrom where B begins: in elements, packed in bytes
     * @param cFrom where C (and the residual) begins, in elements
     * @param m rows of A and C
     */
    record Operands(
            MemorySegment a,
            long aFrom,
            long lda,
            MemorySegment b,
            long bFrom,
            MemorySegment biases,
            MemorySegment residuals,
            MemorySegment c,
            long cFrom,
            long m) {}

    /** A block of the result: its rows and columns. */
    private record Block(long row, int rows, int column, int columns) {}

    /** Made once for most products; threads that make one at the same time make the same. */
    private Block block(long rowBlock, long columnBlock, long m) {
        long row = rowBlock * blockRows;
        int rows = (int) Math.min(blockRows, m - row);
        long index = rowBlock * columnBlocks() + columnBlock;
        Block known = index < KEPT_BLOCKS ? blocks[(int) index] : null;
        if (known != null && known.rows == rows) {
            return known;
        }
        int column = (int) (columnBlock * blockColumns);
        Block made = new Block(row, rows, column, Math.min(blockColumns, n - column));
        if (index < KEPT_BLOCKS) {
            blocks[(int) index] = made;
        }
        return made;
    }

    /** Computes one block, with a worker's workspace and records. */
    void block(Operands of, long rowBlock, long columnBlock, MemorySegment workspace, Records records) {
        Loops loops = Loops.current();
        Block block = block(rowBlock, columnBlock, of.m);
        long row = block.row;
        int rows = block.rows;
        int column = block.column;
        int columns = block.columns;
        boolean f32 = dtype == DType.F32;
        Matrix sums = f32
                ? records.matrix(of.c, 4 * (of.cFrom + row * n + column), 4L * n)
                : records.matrix(workspace, cAt, 4L * columns);
        if (!aDirect()) {
            loadRows(of.a, of.aFrom, of.lda, row, rows, workspace);
        }
        if (bias && !f32) {
            Convert.load(dtype, of.biases, column, workspace, biasAt, columns);
        }
        panels(loops, of, block, sums, workspace, records);
        finish(loops, of, block, sums, workspace);
    }

    private void panels(
            Loops loops, Operands of, Block block, Matrix result, MemorySegment workspace, Records records) {
        boolean f32 = dtype == DType.F32;
        Matrix left = aDirect()
                ? records.matrix(of.a, 4 * (of.aFrom + block.row * of.lda), 4 * of.lda)
                : records.matrix(workspace, aAt, 4L * k);
        Start start = Start.ZERO;
        if (bias) {
            MemorySegment biases = f32 ? of.biases : workspace;
            start = new Start(Start.Kind.BIAS, records.matrix(biases, f32 ? 4L * block.column : biasAt, 0));
        }
        boolean direct = packed && f32;
        for (int j = 0; !direct && j < block.columns; j += Gemm.NR) {
            int width = Math.min(Gemm.NR, block.columns - j);
            loadPanel(of.b, of.bFrom, block.column + j, width, workspace, bAt + 4L * j * k);
        }
        long panelBytes = 4L * k * Gemm.NR;
        Matrix right = direct
                ? records.matrix(of.b, of.bFrom + 4L * block.column * k, panelBytes)
                : records.matrix(workspace, bAt, panelBytes);
        Gemm.Size size = new Gemm.Size(block.rows, block.columns, k);
        loops.product(size, left, right, result, start, records.place(workspace, edgeAt));
    }

    private void loadRows(MemorySegment a, long aFrom, long lda, long row, int rows, MemorySegment workspace) {
        if (!transposeA) {
            for (int r = 0; r < rows; r++) {
                Convert.load(dtype, a, aFrom + (row + r) * lda, workspace, aAt + 4L * r * k, k);
            }
            return;
        }
        int width = dtype.bytes();
        for (int i = 0; i < k; i++) {
            long from = aFrom + i * lda + row;
            if (width == 4) {
                for (int r = 0; r < rows; r++) {
                    workspace.set(Loops.F32, aAt + 4L * ((long) r * k + i), a.get(Loops.F32, 4 * (from + r)));
                }
            } else {
                for (int r = 0; r < rows; r++) {
                    Convert.load(dtype, a, from + r, workspace, aAt + 4L * ((long) r * k + i), 1);
                }
            }
        }
    }

    /** A panel of B as f32, zero past its last column. */
    private void loadPanel(MemorySegment b, long bFrom, int column, int width, MemorySegment workspace, long at) {
        if (packed) {
            long first = bFrom / dtype.bytes() + (long) column * k;
            Convert.load(dtype, b, first, workspace, at, k * Gemm.NR);
            return;
        }
        long rowStride = transposeB ? 1 : n;
        long columnStride = transposeB ? k : 1;
        if (dtype == DType.F32) {
            Gemm.pack(b, 4 * (bFrom + column * columnStride), rowStride, columnStride, k, width, workspace, at);
            return;
        }
        if (width < Gemm.NR) {
            workspace.asSlice(at, 4L * k * Gemm.NR).fill((byte) 0);
        }
        if (!transposeB) {
            for (int i = 0; i < k; i++) {
                Convert.load(dtype, b, bFrom + (long) i * n + column, workspace, at + 4L * i * Gemm.NR, width);
            }
            return;
        }
        for (int j = 0; j < width; j++) {
            Convert.load(dtype, b, bFrom + (long) (column + j) * k, workspace, rawAt, k);
            for (int i = 0; i < k; i++) {
                workspace.set(Loops.F32, at + 4L * (i * Gemm.NR + j), workspace.get(Loops.F32, rawAt + 4L * i));
            }
        }
    }

    /** What comes after the sums, while the block is in the cache. */
    private void finish(Loops loops, Operands of, Block block, Matrix result, MemorySegment workspace) {
        boolean f32 = dtype == DType.F32;
        if (f32 && activation == null && !residual) {
            return;
        }
        int columns = block.columns;
        boolean whole = f32 && columns == n && (long) block.rows * columns <= Integer.MAX_VALUE;
        int spans = whole ? 1 : block.rows;
        int length = whole ? block.rows * columns : columns;
        MemorySegment sums = result.memory();
        long first = of.cFrom + block.row * n + block.column;
        for (int r = 0; r < spans; r++) {
            long at = result.offset() + r * result.stride();
            long element = first + (long) r * n;
            if (activation != null) {
                loops.unary(activation, sums, at, sums, at, length);
            }
            if (residual) {
                MemorySegment other = of.residuals;
                long otherOffset = 4 * element;
                if (!f32) {
                    Convert.load(dtype, of.residuals, element, workspace, rowAt, length);
                    other = workspace;
                    otherOffset = rowAt;
                }
                loops.binary(BinaryFn.ADD, sums, at, other, otherOffset, sums, at, length);
            }
            if (!f32) {
                Convert.store(dtype, sums, at, of.c, element, length);
            }
        }
    }

    /** What a report says beside the kernels' name. */
    String tier() {
        List<String> words = new ArrayList<>();
        words.add(packed ? "packed" : "packing");
        words.add("gemm");
        if (dtype != DType.F32) {
            words.add("by way of f32");
        }
        return String.join(" ", words);
    }
}
