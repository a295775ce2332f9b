package dev.tenon.cpu.matmul;

import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.RangeTask;
import dev.tenon.cpu.step.Records;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Batched products of floats; blocks of all batches in parallel. */
final class MatMulStep implements CpuStep, RangeTask {
    private final FloatProduct product;
    private final CpuMatMulLowering.Sizes sizes;
    private final boolean transposeA;
    private final @Nullable MemorySegment packed;
    /** A, B, bias, residual, C; -1 for what is not there. */
    private final int[] slots;

    private final List<String> passedOver;
    private final long rowBlocks;
    private final long blocks;

    MatMulStep(
            FloatProduct product,
            CpuMatMulLowering.Sizes sizes,
            boolean transposeA,
            @Nullable MemorySegment packed,
            int[] slots,
            List<String> passedOver) {
        this.product = product;
        this.sizes = sizes;
        this.transposeA = transposeA;
        this.packed = packed;
        this.slots = slots;
        this.passedOver = passedOver;
        this.rowBlocks = product.rowBlocks(sizes.m());
        this.blocks = rowBlocks * product.columnBlocks();
    }

    @Override
    public void run(CpuFrame frame) {
        long perBlock = Math.max(1, sizes.work() / Math.max(1, sizes.batches() * blocks));
        frame.parallel(this, sizes.batches() * blocks, Math.max(1, 200_000 / perBlock));
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment a = frame.at(slots[0]);
        MemorySegment b = packed != null ? packed : frame.at(slots[1]);
        MemorySegment bias = slots[2] >= 0 ? frame.at(slots[2]) : MemorySegment.NULL;
        MemorySegment residual = slots[3] >= 0 ? frame.at(slots[3]) : MemorySegment.NULL;
        MemorySegment c = frame.at(slots[4]);
        MemorySegment workspace = frame.workspace(worker);
        Records records = frame.records(worker);
        long m = sizes.m();
        long bSize = packed != null ? product.packedBytes() : (long) sizes.k() * sizes.n();
        long batch = from / blocks;
        while (batch * blocks < to) { // operands are made once for the blocks of a batch
            FloatProduct.Operands operands = sizes.batches() == 1 ? kept(records, a, residual, c) : null;
            if (operands == null) {
                operands = new FloatProduct.Operands(
                        a,
                        sizes.batch().at(0, batch) * m * sizes.k(),
                        transposeA ? m : sizes.k(),
                        b,
                        sizes.batch().at(1, batch) * bSize,
                        bias,
                        residual,
                        c,
                        batch * m * sizes.n(),
                        m);
                keep(records, operands);
            }
            long end = Math.min(to, (batch + 1) * blocks);
            for (long unit = Math.max(from, batch * blocks); unit < end; unit++) {
                long block = unit - batch * blocks;
                product.block(operands, block % rowBlocks, block / rowBlocks, workspace, records);
            }
            batch++;
        }
    }

    /** The operands of the run before, where memory is the same; weights are, as long as there is the frame. */
    private FloatProduct.@Nullable Operands kept(
            Records records, MemorySegment a, MemorySegment residual, MemorySegment c) {
        boolean same = records.kept(this) instanceof FloatProduct.Operands known
                && Records.same(known.a(), a)
                && Records.same(known.residuals(), residual)
                && Records.same(known.c(), c);
        return same ? (FloatProduct.Operands) records.kept(this) : null;
    }

    private void keep(Records records, FloatProduct.Operands operands) {
        boolean lasts = records.lasts(operands.a()) && records.lasts(operands.residuals());
        lasts = lasts && records.lasts(operands.b()) && records.lasts(operands.biases());
        if (sizes.batches() == 1 && lasts && records.lasts(operands.c())) {
            records.keep(this, operands);
        }
    }

    @Override
    public String tier() {
        return product.tier();
    }

    @Override
    public List<String> passedOver() {
        return passedOver;
    }

    @Override
    public long workspaceBytes() {
        return product.workspaceBytes();
    }
}
