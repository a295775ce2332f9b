package dev.tenon.cuda.lower.resident;

import dev.tenon.cuda.lower.step.GpuStep;

/** A step that does the work of several nodes. */
public sealed interface ResidentLaunch extends GpuStep permits ResidentStep, ClusterStep {
    /** Whether the device holds as many blocks as have to run at once; asked when the kernels have their code. */
    default boolean fits() {
        return true;
    }
}
