package dev.tenon.nativelib.emulated;

import java.util.List;

/**
 * A kernel of a loaded object.
 *
 * @param address the runtime's handle
 * @param name the kernel's name
 * @param parameterBytes the size of each parameter
 * @param checked whether its accesses are checked
 */
public record EntryPoint(long address, String name, List<Integer> parameterBytes, boolean checked) {}
