package dev.tenon.cuda.backend;

import dev.tenon.core.compiler.memory.Placement;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.cuda.lower.step.WeightOrder;
import org.jspecify.annotations.Nullable;

/** A value's place; a constant's data is uploaded only if a step reads it. */
final class ValuePlace {
    final Placement placement;
    final @Nullable ConstantData data;
    final @Nullable WeightOrder order;
    boolean read;

    ValuePlace(Placement placement, @Nullable ConstantData data, @Nullable WeightOrder order) {
        this.placement = placement;
        this.data = data;
        this.order = order;
        this.read = order != null;
    }
}
