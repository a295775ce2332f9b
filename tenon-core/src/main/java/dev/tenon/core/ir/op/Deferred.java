package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.Set;

/**
 * An operation whose result's shape, or whose very meaning, hangs on the values of some inputs. Once those are known (they are constants, or came out of arithmetic on shapes), it becomes other operations; backends never see one. Its shape rule answers what can be told before: often only the rank, or nothing.
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
    List<Value> resolve(Ops g, List<Value> inputs, Known known);
}
