package dev.tenon.cuda.lower.resident;

import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuStep;

/**
 * A step that a resident launch does at another one's place.
 *
 * @param launch the number of that step in reports, from 1
 */
record ResidentPart(int launch) implements GpuStep {
    @Override
    public void enqueue(GpuFrame frame) {}

    @Override
    public String tier() {
        return "in the resident launch of step " + launch;
    }
}
