package dev.tenon.cuda.lower.state;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.port.DeviceProperties;
import org.jspecify.annotations.Nullable;

/**
 * How a recurrent layer is spread over a device.
 *
 * @param wide hidden units, in whole fours
 * @param units hidden units of a block
 * @param blocks of a team, which has a share of the sequences of a direction
 * @param shares teams of a direction
 * @param share sequences of a team; the last may have fewer
 * @param chunk sequences whose states are in shared memory at once
 * @param group sequences of a warp: 1, 4 or 8
 * @param keeps whether a block's weights stay in shared memory
 * @param sharedBytes of a block
 */
record RecurrentPlan(
        long wide,
        long units,
        long blocks,
        long shares,
        long share,
        long chunk,
        int group,
        boolean keeps,
        int sharedBytes) {
    /** Multiplications and additions of a multiprocessor in a cycle. */
    private static final double RATE = 64;

    /** Bytes of L2 that a multiprocessor reads in a cycle. */
    private static final double L2_RATE = 48;

    /** Cycles for blocks to meet, and for threads of one. */
    private static final double MEETING = 2500;

    private static final double BARRIER = 200;
    private static final int RESERVED = 1024;

    /** What is planned: {@code rowBytes} of an element of the weights, {@code stateBytes} of one of the state. */
    record Layer(int gates, long directions, long batch, long hidden, int rowBytes, int stateBytes) {}

    /** The plan that is done soonest; null where the state of one sequence does not fit into shared memory. */
    static @Nullable RecurrentPlan of(Layer layer, DeviceProperties device) {
        RecurrentPlan best = null;
        double least = Double.POSITIVE_INFINITY;
        long most = Math.clamp(device.multiprocessors() / layer.directions, 1, layer.hidden);
        long last = 0;
        for (long count = 1; count <= most; count++) {
            long units = Math.ceilDiv(layer.hidden, count);
            if (units == last) {
                continue;
            }
            last = units;
            long teams = Math.clamp(most / Math.ceilDiv(layer.hidden, units), 1, layer.batch);
            for (long shares = 1; shares <= teams; shares++) {
                long share = Math.ceilDiv(layer.batch, shares);
                for (boolean keeps : new boolean[] {true, false}) {
                    RecurrentPlan plan =
                            fitting(layer, units, share, keeps, device.sharedBytesPerBlockOptIn() - RESERVED);
                    if (plan != null && plan.cycles(layer) < least) {
                        least = plan.cycles(layer);
                        best = plan;
                    }
                }
            }
        }
        return best;
    }

    private static @Nullable RecurrentPlan fitting(Layer layer, long units, long share, boolean keeps, long shared) {
        long wide = Math.ceilDiv(layer.hidden, 4L) * 4;
        long weights = keeps ? SizeMath.product("recurrence", layer.gates, units, wide, layer.rowBytes) : 0;
        long row = wide * layer.stateBytes;
        long fits = (shared - weights) / row;
        if (fits < 1) {
            return null;
        }
        int wanted = share == 1 ? 1 : share <= 4 ? 4 : 8;
        int group = fits >= wanted ? wanted : fits >= 4 ? 4 : 1;
        long rows = Math.min(Math.ceilDiv(share, (long) group), fits / group) * group;
        long chunk = Math.min(rows, share);
        return new RecurrentPlan(
                wide,
                units,
                Math.ceilDiv(layer.hidden, units),
                Math.ceilDiv(layer.batch, share),
                share,
                chunk,
                group,
                keeps,
                SizeMath.toInt("recurrence", rows * row + weights));
    }

    private double cycles(Layer layer) {
        double rounds = Math.ceilDiv(share, (long) group);
        double weights = (double) layer.gates * units * wide;
        double states = (double) share * wide * layer.stateBytes / L2_RATE;
        double products = weights * rounds * group / RATE;
        double reading = keeps ? 0 : weights * layer.rowBytes * rounds / L2_RATE;
        return products + reading + states + (blocks > 1 ? MEETING : BARRIER);
    }
}
