package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Value;
import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import java.lang.foreign.MemorySegment;

/**
 * The weights of a convolution in memory that vector loops take: where they lie, or copied once where a model's file is
 * mapped.
 */
final class Filters {
    private final int slot;
    private final MemorySegment copy;

    Filters(Value weights, CpuLoweringContext context) {
        this.slot = context.slot(weights);
        this.copy = weights.constant() instanceof ConstantData.Dense dense && !Segments.isNative(dense.segment())
                ? context.prepared(
                        dense,
                        "unmapped",
                        _ -> new CpuLoweringContext.Prepared(
                                dense.segment().byteSize(), to -> to.copyFrom(dense.segment())))
                : MemorySegment.NULL;
    }

    MemorySegment of(CpuFrame frame) {
        return copy.byteSize() == 0 ? frame.at(slot) : copy;
    }
}
