package dev.tenon.cuda.driver;

import dev.tenon.cuda.port.GpuFunction;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;

/** Which limit a refused launch broke: the driver says no more than "invalid value". */
final class LaunchLimits {
    private LaunchLimits() {}

    /** In words, to be put behind the driver's; empty when no limit known here is broken. */
    static String broken(CudaFunction function, LaunchShape shape) {
        List<String> broken = new ArrayList<>();
        GpuFunction.Resources resources = function.resources();
        if ((long) shape.blockX() * shape.blockY() * shape.blockZ() > resources.maxThreads()) {
            broken.add("a block of this function has at most " + resources.maxThreads() + " threads");
        }
        GridLimits.check(shape, function.allowedSharedBytes(), broken);
        if (shape.clusterX() > 1 && shape.gridX() % shape.clusterX() != 0) {
            broken.add("the cluster's " + shape.clusterX() + " blocks do not divide the grid's " + shape.gridX());
        }
        GridLimits.checkResident(shape, function, function.context().device().multiprocessors(), broken);
        return broken.isEmpty() ? "" : "; " + String.join("; ", broken);
    }
}
