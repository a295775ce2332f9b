package dev.tenon.cuda.lower.state;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.port.DeviceProperties;
import org.jspecify.annotations.Nullable;

/**
 * How a recurrent layer is spread over a device.
 *
 * @param tiled whether tensor cores multiply
 * @param wide elements from the state of a sequence to the next: hidden units, in whole fours, or what suits a tile
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
        boolean tiled,
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

    private static final long TILE = 16;
    private static final long TILE_GATES = 4;
    private static final long BANKS = 32;

    /** Hidden units whose weights the registers of a block hold. */
    private static final long MOST_TILED = 512;

    /** Sequences from which a tile pays. */
    private static final long LEAST_TILED = 8;

    /** Why tensor cores do not take an LSTM of f32; empty where they do. */
    static String tileRefusal(Layer layer, DeviceProperties device) {
        if (layer.hidden > MOST_TILED) {
            return layer.hidden + " hidden units; it takes at most " + MOST_TILED;
        }
        if (layer.batch < LEAST_TILED) {
            return layer.batch + " sequences; it pays from " + LEAST_TILED + " on";
        }
        long blocks = Math.ceilDiv(layer.hidden, TILE) * layer.directions;
        if (blocks > device.multiprocessors()) {
            return blocks + " blocks for a sequence; the device has " + device.multiprocessors() + " multiprocessors";
        }
        int shared = tile(layer).sharedBytes;
        return shared > device.sharedBytesPerBlockOptIn()
                ? shared + " bytes of shared memory; a block has " + device.sharedBytesPerBlockOptIn()
                : "";
    }

    /** The plan for tensor cores, which {@link #tileRefusal} does not refuse. */
    static RecurrentPlan tile(Layer layer) {
        long whole = Math.ceilDiv(layer.hidden, TILE) * TILE;
        long wide = whole % BANKS == 0 ? whole + TILE : whole;
        long shares = Math.ceilDiv(layer.batch, TILE);
        long share = Math.ceilDiv(layer.batch, shares);
        long sums = 2 * TILE_GATES * TILE * (TILE + 1);
        return new RecurrentPlan(
                true,
                wide,
                TILE,
                Math.ceilDiv(layer.hidden, TILE),
                Math.ceilDiv(layer.batch, share),
                share,
                share,
                8,
                true,
                SizeMath.toInt("recurrence", (TILE * wide + sums) * Float.BYTES));
    }

    /** Teams of a direction that a launch has: all, or as many as are there at once. */
    long sharesAtOnce(Layer layer, DeviceProperties device) {
        return tiled ? Math.clamp(device.multiprocessors() / (blocks * layer.directions), 1, shares) : shares;
    }

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
                false,
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
