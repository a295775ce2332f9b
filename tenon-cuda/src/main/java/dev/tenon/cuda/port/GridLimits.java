package dev.tenon.cuda.port;

import java.util.List;

/** The limits of launches that every platform has, in words. */
public final class GridLimits {
    /** Blocks along y, and along z, at most. */
    public static final int YZ = 65535;

    private GridLimits() {}

    /** Adds what a launch breaks of the grid's sizes and of the function's shared memory. */
    public static void check(LaunchShape shape, int allowedSharedBytes, List<String> broken) {
        if (shape.gridY() > YZ || shape.gridZ() > YZ) {
            broken.add("a grid has at most " + YZ + " blocks along y and z");
        }
        if (shape.sharedBytes() > allowedSharedBytes) {
            broken.add("dynamic shared memory is allowed up to " + allowedSharedBytes + " bytes");
        }
    }

    /** Adds whether a cooperative launch, which breaks nothing else, has more blocks than can be resident at once. */
    public static void checkResident(
            LaunchShape shape, GpuFunction function, int multiprocessors, List<String> broken) {
        if (!shape.cooperative() || !broken.isEmpty()) {
            return;
        }
        long resident = (long) function.blocksPerMultiprocessor(shape.threads(), shape.sharedBytes()) * multiprocessors;
        if ((long) shape.gridX() * shape.gridY() * shape.gridZ() > resident) {
            broken.add("a cooperative grid of this block has at most " + resident + " blocks here");
        }
    }
}
