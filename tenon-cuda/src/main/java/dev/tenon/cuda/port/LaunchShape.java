package dev.tenon.cuda.port;

/**
 * The shape and attributes of a launch.
 *
 * @param gridX blocks, 1 to 2^31 - 1
 * @param gridY blocks, 1 to 65535
 * @param gridZ blocks, 1 to 65535
 * @param blockX threads
 * @param blockY threads
 * @param blockZ threads
 * @param sharedBytes dynamic shared memory of a block
 * @param cooperative whether all blocks are resident at once, so that the grid may synchronise
 * @param clusterX blocks of a cluster along x; 1 for none
 * @param programmatic whether the launch may start before its predecessor in the stream has ended (the kernel waits by
 *     itself)
 */
public record LaunchShape(
        int gridX,
        int gridY,
        int gridZ,
        int blockX,
        int blockY,
        int blockZ,
        int sharedBytes,
        boolean cooperative,
        int clusterX,
        boolean programmatic) {
    public LaunchShape {
        if (gridX < 1
                || gridY < 1
                || gridZ < 1
                || blockX < 1
                || blockY < 1
                || blockZ < 1
                || sharedBytes < 0
                || clusterX < 1) {
            throw new IllegalArgumentException(
                    "launch shape " + text(gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes)
                            + ": every size is at least 1; launch nothing for an empty tensor");
        }
    }

    /** A one-dimensional launch. */
    public static LaunchShape of(int blocks, int threads) {
        return new LaunchShape(blocks, 1, 1, threads, 1, 1, 0, false, 1, false);
    }

    public static LaunchShape of(int gridX, int gridY, int gridZ, int threads) {
        return new LaunchShape(gridX, gridY, gridZ, threads, 1, 1, 0, false, 1, false);
    }

    public LaunchShape withSharedBytes(int bytes) {
        return new LaunchShape(gridX, gridY, gridZ, blockX, blockY, blockZ, bytes, cooperative, clusterX, programmatic);
    }

    public LaunchShape withCooperative() {
        return new LaunchShape(gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, true, clusterX, programmatic);
    }

    public LaunchShape withCluster(int blocks) {
        return new LaunchShape(
                gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, cooperative, blocks, programmatic);
    }

    public LaunchShape withProgrammatic() {
        return new LaunchShape(gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, cooperative, clusterX, true);
    }

    public int threads() {
        return blockX * blockY * blockZ;
    }

    /** {@code grid [8,1,1], block [256,1,1], 0 B shared}. */
    @Override
    public String toString() {
        return text(gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes)
                + (cooperative ? ", cooperative" : "")
                + (clusterX > 1 ? ", cluster " + clusterX : "")
                + (programmatic ? ", programmatic" : "");
    }

    private static String text(int gx, int gy, int gz, int bx, int by, int bz, int shared) {
        return "grid [" + gx + "," + gy + "," + gz + "], block [" + bx + "," + by + "," + bz + "], " + shared
                + " B shared";
    }
}
