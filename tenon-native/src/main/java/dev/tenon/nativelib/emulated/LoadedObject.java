package dev.tenon.nativelib.emulated;

import java.util.Map;

/**
 * A kernel object that the host's loader took.
 *
 * @param handle for unloading
 * @param sharedBytes static shared memory of its kernels together
 * @param entries by name
 */
public record LoadedObject(long handle, int sharedBytes, Map<String, EntryPoint> entries) {}
