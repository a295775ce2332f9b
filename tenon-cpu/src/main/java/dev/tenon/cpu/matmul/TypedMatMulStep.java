package dev.tenon.cpu.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Products of f64 and of integers, which wrap: sums of doubles or longs, a block of rows by a block of columns at a
 * time, so that a row of B is loaded once for many rows of A.
 */
final class TypedMatMulStep implements CpuStep, RangeTask {
    private static final int ROWS = 16;
    private static final int COLUMNS = 256;
    private static final int DEPTH = 512;

    private final DType dtype;
    private final CpuMatMulLowering.Sizes sizes;
    private final boolean transposeA;
    private final boolean transposeB;
    private final @Nullable Unary activation;
    private final int[] slots;
    private final List<String> passedOver;
    private final long rowBlocks;
    private final long columnBlocks;
    private final boolean floats;
    private final long aAt;
    private final long bAt;
    private final long sumAt;
    private final long otherAt;
    private final long workspaceBytes;

    TypedMatMulStep(
            DType dtype,
            CpuMatMulLowering.Sizes sizes,
            boolean transposeA,
            boolean transposeB,
            Epilogue epilogue,
            int[] slots,
            List<String> passedOver) {
        this.dtype = dtype;
        this.sizes = sizes;
        this.transposeA = transposeA;
        this.transposeB = transposeB;
        this.activation = epilogue.activation();
        this.slots = slots;
        this.passedOver = passedOver;
        rowBlocks = Math.ceilDiv(sizes.m(), ROWS);
        columnBlocks = Math.ceilDiv(sizes.n(), COLUMNS);
        floats = dtype.isFloat();
        Layout layout = new Layout();
        aAt = layout.take(8L * ROWS * DEPTH);
        bAt = layout.take(8L * COLUMNS);
        sumAt = layout.take(8L * ROWS * COLUMNS);
        otherAt = layout.take(8L * COLUMNS);
        workspaceBytes = layout.bytes();
    }

    @Override
    public List<String> passedOver() {
        return passedOver;
    }

    @Override
    public void run(CpuFrame frame) {
        long units = sizes.batches() * rowBlocks * columnBlocks;
        // packed types: two blocks of a row may share a byte
        frame.parallel(this, units, dtype.bits() < 8 ? units : 1);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment workspace = frame.workspace(worker);
        for (long unit = from; unit < to; unit++) {
            long batch = unit / (rowBlocks * columnBlocks);
            long block = unit % (rowBlocks * columnBlocks);
            block(frame, workspace, batch, block / columnBlocks * ROWS, (int) (block % columnBlocks) * COLUMNS);
        }
    }

    private void block(CpuFrame frame, MemorySegment workspace, long batch, long row, int column) {
        int k = sizes.k();
        int n = sizes.n();
        long m = sizes.m();
        int rows = (int) Math.min(ROWS, m - row);
        int columns = Math.min(COLUMNS, n - column);
        MemorySegment a = frame.at(slots[0]);
        MemorySegment b = frame.at(slots[1]);
        long aFrom = sizes.batch().at(0, batch) * m * k;
        long bFrom = sizes.batch().at(1, batch) * k * n;
        workspace.asSlice(sumAt, 8L * ROWS * COLUMNS).fill((byte) 0);
        for (int depth = 0; depth < k; depth += DEPTH) {
            int count = Math.min(DEPTH, k - depth);
            loadRows(a, aFrom, row, rows, depth, count, workspace);
            for (int i = 0; i < count; i++) {
                loadColumns(b, bFrom, depth + i, column, columns, workspace);
                for (int r = 0; r < rows; r++) {
                    addProducts(workspace, aAt + 8L * (r * DEPTH + i), sumAt + 8L * r * COLUMNS, columns);
                }
            }
        }
        for (int r = 0; r < rows; r++) {
            long to = batch * m * n + (row + r) * n + column;
            finish(frame, workspace, sumAt + 8L * r * COLUMNS, column, to, columns);
        }
    }

    private void loadRows(
            MemorySegment a, long aFrom, long row, int rows, int depth, int count, MemorySegment workspace) {
        for (int r = 0; r < rows; r++) {
            long to = aAt + 8L * r * DEPTH;
            if (!transposeA) {
                Convert.load(dtype, a, aFrom + (row + r) * sizes.k() + depth, workspace, to, count);
            } else {
                for (int i = 0; i < count; i++) {
                    Convert.load(dtype, a, aFrom + (depth + i) * sizes.m() + row + r, workspace, to + 8L * i, 1);
                }
            }
        }
    }

    private void loadColumns(MemorySegment b, long bFrom, int depth, int column, int columns, MemorySegment workspace) {
        if (!transposeB) {
            Convert.load(dtype, b, bFrom + (long) depth * sizes.n() + column, workspace, bAt, columns);
            return;
        }
        for (int j = 0; j < columns; j++) {
            Convert.load(dtype, b, bFrom + (long) (column + j) * sizes.k() + depth, workspace, bAt + 8L * j, 1);
        }
    }

    private void addProducts(MemorySegment workspace, long aOffset, long sumOffset, int columns) {
        if (floats) {
            double x = workspace.get(Convert.F64, aOffset);
            for (int j = 0; j < columns; j++) {
                long at = sumOffset + 8L * j;
                workspace.set(
                        Convert.F64, at, workspace.get(Convert.F64, at) + x * workspace.get(Convert.F64, bAt + 8L * j));
            }
        } else {
            long x = workspace.get(Convert.I64, aOffset);
            for (int j = 0; j < columns; j++) {
                long at = sumOffset + 8L * j;
                workspace.set(
                        Convert.I64, at, workspace.get(Convert.I64, at) + x * workspace.get(Convert.I64, bAt + 8L * j));
            }
        }
    }

    private void finish(CpuFrame frame, MemorySegment workspace, long sums, int column, long to, int columns) {
        if (slots[2] >= 0) {
            Convert.load(dtype, frame.at(slots[2]), column, workspace, otherAt, columns);
            addOther(workspace, sums, columns);
        }
        if (activation != null) {
            for (int j = 0; j < columns; j++) {
                double value = activation.apply(workspace.get(Convert.F64, sums + 8L * j));
                workspace.set(Convert.F64, sums + 8L * j, value);
            }
        }
        if (slots[3] >= 0) {
            Convert.load(dtype, frame.at(slots[3]), to, workspace, otherAt, columns);
            addOther(workspace, sums, columns);
        }
        Convert.store(dtype, workspace, sums, frame.at(slots[4]), to, columns);
    }

    private void addOther(MemorySegment workspace, long sums, int columns) {
        for (int j = 0; j < columns; j++) {
            long at = sums + 8L * j;
            if (floats) {
                workspace.set(
                        Convert.F64, at, workspace.get(Convert.F64, at) + workspace.get(Convert.F64, otherAt + 8L * j));
            } else {
                workspace.set(
                        Convert.I64, at, workspace.get(Convert.I64, at) + workspace.get(Convert.I64, otherAt + 8L * j));
            }
        }
    }

    @Override
    public String tier() {
        return floats ? "f64 loops" : "integer loops";
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }
}
