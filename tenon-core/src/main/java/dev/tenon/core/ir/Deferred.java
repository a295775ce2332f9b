package dev.tenon.core.ir;

import dev.tenon.core.ir.op.control.If;
import dev.tenon.core.ir.op.control.Scan;
import dev.tenon.core.ir.op.filling.FillTo;
import dev.tenon.core.ir.op.filling.RangeOf;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.filling.SizeOf;
import dev.tenon.core.ir.op.image.Col2ImBy;
import dev.tenon.core.ir.op.image.ResizeBy;
import dev.tenon.core.ir.op.indexing.OneHotBy;
import dev.tenon.core.ir.op.movement.ExpandTo;
import dev.tenon.core.ir.op.movement.PadBy;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.SliceBy;
import dev.tenon.core.ir.op.movement.SplitBy;
import dev.tenon.core.ir.op.movement.SqueezeAxes;
import dev.tenon.core.ir.op.movement.TileBy;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import dev.tenon.core.ir.op.random.RandomTo;
import dev.tenon.core.ir.op.reduction.ReduceBy;
import dev.tenon.core.ir.op.reduction.TopKBy;
import dev.tenon.core.ir.op.searching.Compress;
import dev.tenon.core.ir.op.searching.FirstOf;
import dev.tenon.core.ir.op.searching.NonMaxSuppression;
import dev.tenon.core.ir.op.searching.NonZero;
import dev.tenon.core.ir.op.searching.Unique;
import dev.tenon.core.ir.op.signal.DftBy;
import dev.tenon.core.ir.op.signal.MelWeights;
import dev.tenon.core.ir.op.signal.Stft;
import java.util.List;
import java.util.Set;

/**
 * An operation whose result's shape, or whose very meaning, depends on the values of some inputs. Once those are known
 * (they are constants, or came out of arithmetic on shapes), it becomes other operations; backends never see one. Its
 * shape rule answers what can be told before: often only the rank, or nothing.
 */
public sealed interface Deferred extends Op
        permits ShapeOf,
                SizeOf,
                ReshapeTo,
                SqueezeAxes,
                UnsqueezeAxes,
                SliceBy,
                ExpandTo,
                TileBy,
                PadBy,
                FillTo,
                RangeOf,
                ResizeBy,
                SplitBy,
                TopKBy,
                OneHotBy,
                ReduceBy,
                If,
                FirstOf,
                NonZero,
                Compress,
                Unique,
                NonMaxSuppression,
                Col2ImBy,
                DftBy,
                Stft,
                MelWeights,
                RandomTo,
                Scan {
    /** Which inputs' values are needed. */
    Set<Integer> neededValues();

    /** Whether {@link #resolve} needs the shapes of all inputs to be concrete. */
    default boolean needsShapes() {
        return true;
    }

    /** Adds the operations that this one stands for, or just answers values that exist. */
    List<Value> resolve(OpBuilder g, List<Value> inputs, Known known);
}
