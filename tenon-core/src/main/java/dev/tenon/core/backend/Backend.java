package dev.tenon.core.backend;

import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.report.DeviceInfo;
import java.util.List;

/**
 * A kind of device. Implementations have a public constructor without arguments, load nothing in it, and are
 * thread-safe.
 */
public interface Backend {
    /** The name that {@code Target} knows it by: {@code cpu}, {@code cuda}. */
    String name();

    /** Which of several available backends {@code Target.best()} takes: the highest. The CPU is 0. */
    int preference();

    /** The devices there are; empty where {@link #unavailable()} says why. Never throws. */
    List<DeviceInfo> devices();

    /** One line that says why there is no device, and what would help; empty where there is one. Never throws. */
    String unavailable();

    /** Opens a device. @throws dev.tenon.core.error.UnsupportedException when there is none of that number */
    Device open(int ordinal, EngineOptions options);
}
