package dev.tenon.core.report;

import dev.tenon.core.error.Require;

/**
 * A device as it presents itself.
 *
 * @param backend {@code cpu}, {@code cuda}
 * @param ordinal its number within the backend
 * @param name what the maker calls it
 * @param detail one line: cores and vector width, or compute capability and driver
 * @param memoryBytes memory that the device has in all
 */
public record DeviceInfo(String backend, int ordinal, String name, String detail, long memoryBytes) {
    public DeviceInfo {
        Require.nonNull(backend, "backend");
        Require.nonNull(name, "name");
        Require.nonNull(detail, "detail");
    }
}
