package dev.tenon.cuda.backend;

import dev.tenon.core.ir.Node;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.report.StepCost;
import dev.tenon.cuda.store.Store;
import dev.tenon.cuda.timing.Ceilings;

/**
 * What the times of steps are predicted by.
 *
 * @param step microseconds from the start of one small step to that of the next
 * @param bytes that the device moves in a microsecond
 * @param operations that it computes in a microsecond
 */
record StepRates(double step, double bytes, double operations) {
    /** Of a large card: the order of magnitude is all that a schedule needs. */
    static final StepRates USUAL = new StepRates(2.5, 2e6, 5e7);

    /** As {@code tenon calibrate} measured them on a device; the usual ones where it did not. */
    static StepRates of(DeviceInfo device, Store store) {
        return Ceilings.of(device, store)
                .map(best -> new StepRates(best.stepMicros(), best.copyGigabytes() * 1e3, best.fastGigaflops() * 1e3))
                .orElse(USUAL);
    }

    /** Microseconds of what a node moves or computes, without the start of its step. */
    double micros(Node node) {
        StepCost cost = StepCost.of(node);
        return Math.max(cost.bytes() / bytes, cost.operations() / operations);
    }
}
