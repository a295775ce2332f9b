package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.port.DeviceProperties;
import java.util.Comparator;

/**
 * How {@code grouped_matmul_wgmma} makes products of groups of rows: pure arithmetic, its constants measured on an
 * H200.
 *
 * @param form of tiles
 * @param steps of 64 elements that sums are padded to
 * @param blocks of the launch, which share the tiles
 * @param microseconds that it takes by the model, for groups of random sizes
 */
record GroupedRing(RingTile form, int steps, int blocks, double microseconds) {
    private static final int CAPABILITY = 90;
    private static final int PACK = 8;
    private static final int MOST_PLACES = Integer.MAX_VALUE / 2;

    /** Of a group, at the mean: with fewer, memory sets the time, and other tiles take as long. */
    private static final long LEAST_ROWS = 32;

    private static final int RESERVED = 20 << 10; // what the kernel declares itself

    /** Microseconds of a launch, of the table of groups, and of a block's first operands. */
    private static final double START = 4;

    /** Bytes a microsecond that memory brings, and what products take beside that. */
    private static final double BYTES = 4.2e6;

    private static final double BESIDE = 0.05;

    /** Why groups of rows are not multiplied so; empty where they are. */
    static String refusal(DType dtype, GroupedSizes sizes, DeviceProperties device, boolean specific, boolean forced) {
        if (!forced && sizes.rows() < sizes.groups() * LEAST_ROWS) {
            return sizes.rows() + " rows for " + sizes.groups() + " groups; it takes " + LEAST_ROWS + " for each";
        }
        if (dtype != DType.F16 && dtype != DType.BF16) {
            return "it takes f16 and bf16, not " + dtype;
        }
        if (device.architecture().number() != CAPABILITY) {
            return "compute capability " + device.architecture() + " is not 9.0";
        }
        if (!specific) {
            return "no compiler for sm_90a";
        }
        if (sizes.k() == 0 || sizes.k() % PACK != 0 || sizes.n() % PACK != 0) {
            return "sums of " + sizes.k() + " elements and " + sizes.n() + " columns; it takes both in eights";
        }
        if (sizes.groups() > ProductCatalog.MOST_GROUPS) {
            return sizes.groups() + " groups; it takes " + ProductCatalog.MOST_GROUPS;
        }
        double least = RingTile.STORED_BESIDE.getLast().columns();
        boolean counted = Math.max(sizes.rows(), Math.max(sizes.n(), sizes.k())) <= MOST_PLACES
                && ((double) sizes.rows() / RingTile.ROWS + sizes.groups()) * Math.ceil(sizes.n() / least)
                        <= MOST_PLACES;
        if (!counted) {
            return "places are counted in 32 bits";
        }
        return RingTile.STORED_BESIDE.stream().noneMatch(form -> fits(form, device))
                ? "a block has too little shared memory"
                : "";
    }

    private static boolean fits(RingTile form, DeviceProperties device) {
        return form.sharedBytes() + RESERVED <= device.sharedBytesPerBlockOptIn();
    }

    /** The fastest plan where groups are not refused. */
    static GroupedRing of(DType dtype, GroupedSizes sizes, DeviceProperties device) {
        return RingTile.STORED_BESIDE.stream()
                .filter(form -> fits(form, device))
                .map(form -> of(form, dtype, sizes, device.multiprocessors()))
                .min(Comparator.comparingDouble(GroupedRing::microseconds))
                .orElseThrow();
    }

    private static GroupedRing of(RingTile form, DType dtype, GroupedSizes sizes, int multiprocessors) {
        double held = Math.min(sizes.rows(), sizes.groups());
        // the last tile of a group is half full
        double high = Math.max((double) sizes.rows() / RingTile.ROWS + held / 2, held);
        long tiles = (long) Math.ceil(high) * Math.ceilDiv(sizes.n(), form.columns());
        int steps = form.steps(dtype, sizes.k());
        double products = form.microseconds(Math.ceilDiv(tiles, multiprocessors), steps);
        double elements = held * sizes.k() * sizes.n() + (double) sizes.rows() * (sizes.k() + sizes.n());
        double memory = elements / (BYTES / dtype.bytes());
        double time = START + Math.max(products, memory + BESIDE * products);
        return new GroupedRing(form, steps, sizes.blocks(RingTile.ROWS, form.columns(), multiprocessors), time);
    }

    /** {@code grouped_matmul_wgmma, tiles of 128x256}. */
    String text() {
        return "grouped_matmul_wgmma, tiles of " + RingTile.ROWS + "x" + form.columns();
    }
}
