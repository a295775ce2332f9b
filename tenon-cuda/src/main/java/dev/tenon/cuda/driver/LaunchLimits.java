package dev.tenon.cuda.driver;

import dev.tenon.cuda.port.GpuFunction;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;

/** Which limit a refused launch broke: the driver says no more than "invalid value". */
final class LaunchLimits {
    private static final int YZ = 65535;

    private LaunchLimits() {}

    /** In words, to be put behind the driver's; empty when no limit known here is broken. */
    static String broken(CudaFunction function, LaunchShape shape) {
        List<String> broken = new ArrayList<>();
        GpuFunction.Resources resources = function.resources();
        if ((long) shape.blockX() * shape.blockY() * shape.blockZ() > resources.maxThreads()) {
            broken.add("a block of this function has at most " + resources.maxThreads() + " threads");
        }
        if (shape.gridY() > YZ || shape.gridZ() > YZ) {
            broken.add("a grid has at most " + YZ + " blocks along y and z");
        }
        if (shape.sharedBytes() > function.allowedSharedBytes()) {
            broken.add("dynamic shared memory is allowed up to " + function.allowedSharedBytes() + " bytes");
        }
        if (shape.clusterX() > 1 && shape.gridX() % shape.clusterX() != 0) {
            broken.add("the cluster's " + shape.clusterX() + " blocks do not divide the grid's " + shape.gridX());
        }
        if (shape.cooperative() && broken.isEmpty()) {
            int resident = function.blocksPerMultiprocessor(shape.threads(), shape.sharedBytes())
                    * function.context().device().multiprocessors();
            if ((long) shape.gridX() * shape.gridY() * shape.gridZ() > resident) {
                broken.add("a cooperative grid of this block has at most " + resident + " blocks here");
            }
        }
        return broken.isEmpty() ? "" : "; " + String.join("; ", broken);
    }
}
