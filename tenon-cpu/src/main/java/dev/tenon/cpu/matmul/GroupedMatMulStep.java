package dev.tenon.cpu.matmul;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** One product after the other for the rows of each expert; the blocks of one product in parallel. */
final class GroupedMatMulStep implements CpuStep, RangeTask {
    private final String name;
    private final DType countType;
    private final long rows;
    private final int k;
    private final int n;
    /** Null for f64, which has loops of its own. */
    private final @Nullable FloatProduct product;

    private final @Nullable MemorySegment packed;
    /** Tokens, weights, counts, result. */
    private final int[] slots;

    GroupedMatMulStep(
            String name,
            DType countType,
            long rows,
            int k,
            int n,
            @Nullable FloatProduct product,
            @Nullable MemorySegment packed,
            int[] slots) {
        this.name = name;
        this.countType = countType;
        this.rows = rows;
        this.k = k;
        this.n = n;
        this.product = product;
        this.packed = packed;
        this.slots = slots;
    }

    @Override
    public void run(CpuFrame frame) {
        MemorySegment counts = frame.at(slots[2]);
        long experts = counts.byteSize() / countType.bytes();
        check(counts, experts);
        long[] group = frame.group();
        long row = 0;
        for (long expert = 0; expert < experts; expert++) {
            long count = Elements.getLong(countType, counts, expert);
            group[0] = expert;
            group[1] = row;
            group[2] = count;
            if (count > 0) {
                long units = product == null ? count : product.rowBlocks(count) * product.columnBlocks();
                frame.parallel(this, units, 1);
            }
            row += count;
        }
    }

    private void check(MemorySegment counts, long experts) {
        long row = 0;
        for (long expert = 0; expert < experts; expert++) {
            long count = Elements.getLong(countType, counts, expert);
            if (count < 0 || count > rows - row) {
                throw new DataException(
                        name + ": count " + count + " of expert " + expert + " does not fit " + rows + " rows");
            }
            row += count;
        }
        if (row != rows) {
            throw new DataException(name + ": counts sum to " + row + "; expected the number of rows, " + rows);
        }
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        long[] group = frame.group();
        MemorySegment a = frame.at(slots[0]);
        MemorySegment c = frame.at(slots[3]);
        if (product == null) {
            for (long row = group[1] + from; row < group[1] + to; row++) {
                rowOfDoubles(a, frame.at(slots[1]), group[0] * k * n, c, row);
            }
            return;
        }
        MemorySegment b = packed != null ? packed : frame.at(slots[1]);
        long bSize = packed != null ? product.packedBytes() : (long) k * n;
        long rowBlocks = product.rowBlocks(group[2]);
        MemorySegment none = MemorySegment.NULL;
        FloatProduct.Operands operands = new FloatProduct.Operands(
                a, group[1] * k, k, b, group[0] * bSize, none, none, c, group[1] * n, group[2]);
        for (long unit = from; unit < to; unit++) {
            product.block(operands, unit % rowBlocks, unit / rowBlocks, frame.workspace(worker), frame.records(worker));
        }
    }

    private void rowOfDoubles(MemorySegment a, MemorySegment b, long bFrom, MemorySegment c, long row) {
        for (int j = 0; j < n; j++) {
            c.set(Convert.F64, 8 * (row * n + j), 0);
        }
        for (int i = 0; i < k; i++) {
            double x = a.get(Convert.F64, 8 * (row * k + i));
            long at = 8 * (bFrom + (long) i * n);
            for (int j = 0; j < n; j++) {
                long to = 8 * (row * n + j);
                c.set(Convert.F64, to, c.get(Convert.F64, to) + x * b.get(Convert.F64, at + 8L * j));
            }
        }
    }

    @Override
    public String tier() {
        return product == null ? "f64 loops" : product.tier();
    }

    @Override
    public long workspaceBytes() {
        return product == null ? 0 : product.workspaceBytes();
    }
}
