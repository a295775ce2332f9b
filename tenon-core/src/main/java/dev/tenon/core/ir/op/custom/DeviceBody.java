package dev.tenon.core.ir.op.custom;

import java.util.List;

/**
 * Runs a custom operation on a device: launches of kernels of one source, one after another.
 *
 * @param source what the kernels are compiled from, once for each text and set of macros
 * @param launches in order; each starts when the one before has ended
 * @param workspaceBytes memory that the launches share during the step; its bytes mean nothing before
 */
public record DeviceBody(DeviceSource source, List<DeviceLaunch> launches, long workspaceBytes) {
    public DeviceBody {
        launches = List.copyOf(launches);
    }

    /** Makes a body without workspace. */
    public static DeviceBody of(DeviceSource source, DeviceLaunch... launches) {
        return new DeviceBody(source, List.of(launches), 0);
    }
}
