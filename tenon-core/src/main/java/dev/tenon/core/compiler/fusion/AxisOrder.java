package dev.tenon.core.compiler.fusion;

import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.pooling.Pool;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Another order of the dims of a value, and what operations on it become.
 *
 * @param permutation the old axis at each new one
 */
record AxisOrder(List<Integer> permutation) {
    static AxisOrder channelsLast(int rank) {
        return new AxisOrder(ChannelsLastConv.last(rank));
    }

    /** The operation on a value of this order; null where there is none. */
    @Nullable
    Op of(Op op) {
        return switch (op) {
            case Pad(var mode, var before, var after) -> new Pad(mode, each(before), each(after));
            case Slice(var starts, var sizes, var steps) -> new Slice(each(starts), each(sizes), each(steps));
            case Softmax(int axis) -> new Softmax(permutation.indexOf(axis));
            case LogSoftmax(int axis) -> new LogSoftmax(permutation.indexOf(axis));
            case Resize resize -> resize(resize);
            case Pool pool -> pool(pool);
            default -> null;
        };
    }

    private <T> List<T> each(List<T> perAxis) {
        return permutation.stream().map(perAxis::get).toList();
    }

    private Resize resize(Resize op) {
        int rank = permutation.size();
        List<Double> roi = new ArrayList<>();
        if (!op.roi().isEmpty()) {
            roi.addAll(each(op.roi().subList(0, rank)));
            roi.addAll(each(op.roi().subList(rank, 2 * rank)));
        }
        return new Resize(
                op.mode(),
                op.coordinates(),
                op.nearest(),
                op.cubicCoefficient(),
                op.excludeOutside(),
                op.extrapolation(),
                op.antialias(),
                each(op.scales()),
                each(op.sizes()),
                roi);
    }

    /** Over [B,1,...,C], whose channels are one more spatial dim. */
    private static Pool pool(Pool op) {
        return new Pool(
                op.fn(),
                with(op.kernel(), 1),
                with(op.strides(), 1),
                with(op.padsBefore(), 0),
                with(op.padsAfter(), 0),
                with(op.dilations(), 1),
                op.ceil(),
                op.countPadding(),
                op.p());
    }

    /** The numbers of axes, and one more. */
    static List<Long> with(List<Long> perAxis, long last) {
        List<Long> more = new ArrayList<>(perAxis);
        more.add(last);
        return more;
    }
}
