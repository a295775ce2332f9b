package dev.tenon.core.compiler;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.ExpandTo;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.SliceBy;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What an operation on sizes becomes where the sizes of its result are known; it reads the first operand alone. */
sealed interface Resizing {
    /** The operation whose result has those sizes. */
    Op to(long[] sizes);

    /** How a node becomes another by the sizes of its result, whose dims are known; null where it needs more. */
    static @Nullable Resizing of(Node node) {
        return switch (node.op()) {
            case ReshapeTo _, UnsqueezeAxes _ -> new Reshaping();
            case ExpandTo _ -> new Expanding();
            case SliceBy op -> slicing(op, node);
            default -> null;
        };
    }

    /**
     * A slice of each element from a constant place on. Its result has elements, so that no start lies behind the end.
     */
    private static @Nullable Resizing slicing(SliceBy op, Node node) {
        Shape dims = node.output().shape();
        long[] starts = longs(node.input(1));
        long[] axes = op.axes() ? longs(node.input(3)) : null;
        long[] steps = op.steps() ? longs(node.inputs().getLast()) : null;
        if (starts == null || (op.axes() && axes == null) || (op.steps() && steps == null)) {
            return null;
        }
        List<Long> from = new ArrayList<>(Collections.nCopies(dims.rank(), 0L));
        Set<Integer> cut = new HashSet<>();
        for (int i = 0; i < starts.length; i++) {
            boolean counts = starts[i] >= 0 && (steps == null || steps[i] == 1);
            long axis = axes == null ? i : axes[i];
            if (!counts || axis < -dims.rank() || axis >= dims.rank() || !cut.add(dims.axis(axis))) {
                return null;
            }
            from.set(dims.axis(axis), starts[i]);
        }
        return dims.dims().stream().anyMatch(dim -> dim.is(0)) ? null : new Slicing(List.copyOf(from));
    }

    private static long @Nullable [] longs(Value value) {
        ConstantData data = value.constant();
        return data == null ? null : NdArray.of(data).toLongs();
    }

    /** A reshape. */
    record Reshaping() implements Resizing {
        @Override
        public Op to(long[] sizes) {
            return Reshape.to(sizes);
        }
    }

    /** An expansion. */
    record Expanding() implements Resizing {
        @Override
        public Op to(long[] sizes) {
            return Expand.to(sizes);
        }
    }

    /** A slice from those places on. */
    record Slicing(List<Long> starts) implements Resizing {
        @Override
        public Op to(long[] sizes) {
            List<Long> counts = new ArrayList<>(sizes.length);
            for (long size : sizes) {
                counts.add(size);
            }
            return new Slice(starts, counts, Collections.nCopies(sizes.length, 1L));
        }
    }
}
