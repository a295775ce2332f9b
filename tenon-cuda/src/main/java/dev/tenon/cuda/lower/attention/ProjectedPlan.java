package dev.tenon.cuda.lower.attention;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProjectedForm;
import dev.tenon.cuda.lower.matmul.ProductTime;
import dev.tenon.cuda.port.DeviceProperties;

/**
 * How {@code matmul_attention} makes a product and the attention of its heads: pure arithmetic, its constants measured
 * on an H200.
 *
 * @param steps of 128 bytes of k that sums are padded to
 * @param blocks of the launch, which share the tiles
 * @param microseconds that it takes by the model
 */
record ProjectedPlan(ProjectedForm form, int steps, int blocks, double microseconds) {
    private static final String NAME = "matmul_attention";
    private static final int RESERVED = 8 << 10; // what the kernel declares itself

    /** Microseconds of a launch, a block's first operands and its last tile's attention, and of a step. */
    private static final double START = 3.5;

    private static final double STEP = 0.50;

    /** Of a tile with one head, and with two. */
    private static final double TILE = 2.7;

    private static final double TILE_OF_TWO = 3.4;

    /** Of attention apart: a launch, and elements a microsecond of heads of 64 and of 32. */
    private static final double LAUNCH = 3.5;

    private static final double RATE = 1.75e6;
    private static final double RATE_OF_SMALL = 1.25e6;

    /** Elements that attention reads and writes for each of q, k and v. */
    private static final double MOVED = 4.0 / 3;

    /** Whether blocks of a device hold what a tile needs. */
    static boolean fits(DeviceProperties device) {
        return ProjectedForm.sharedBytes() + RESERVED <= device.sharedBytesPerBlockOptIn();
    }

    static ProjectedPlan of(
            ProjectedForm form, MatMulShape shape, long sequences, long heads, DeviceProperties device) {
        long tiles = SizeMath.product(NAME, sequences, Math.ceilDiv(heads, (long) form.heads()));
        int depth = ProjectedForm.LINE / form.dtype().bytes();
        int steps = Math.max((int) Math.ceilDiv(shape.k(), (long) depth), ProjectedForm.LEAST_STEPS);
        int blocks = (int) Math.min(tiles, device.multiprocessors());
        double tile = form.heads() == 1 ? TILE : TILE_OF_TWO;
        double time = START + Math.ceilDiv(tiles, Math.max(1, blocks)) * (steps * STEP + tile);
        return new ProjectedPlan(form, steps, blocks, time);
    }

    /** Microseconds of both apart. */
    static double apart(ProjectedForm form, MatMulShape shape, DeviceProperties device) {
        double elements = (double) shape.m() * shape.n() * MOVED;
        double attention = LAUNCH + elements / (form.heads() == 1 ? RATE : RATE_OF_SMALL);
        return ProductTime.microseconds(form.dtype(), shape, device) + attention;
    }
}
