package dev.tenon.cuda.driver;

import static dev.tenon.nativelib.cuda.CuConstants.*;

import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.nativelib.cuda.CuDevice;
import dev.tenon.nativelib.cuda.CuStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** What the driver says of its devices. */
final class DeviceList {
    private static final int NAME_BYTES = 256;

    private final MemorySegment out;
    private final MemorySegment name;

    private DeviceList(Arena arena) {
        out = arena.allocate(ValueLayout.JAVA_LONG);
        name = arena.allocate(NAME_BYTES);
    }

    /** After {@code cuInit}. @throws dev.tenon.core.error.NativeException when the driver refuses */
    static List<DeviceProperties> read() {
        try (Arena arena = Arena.ofConfined()) {
            DeviceList list = new DeviceList(arena);
            CuStatus.CHECK.check(CuDevice.cuDeviceGetCount(list.out.address()), "cuDeviceGetCount()");
            int count = list.out.get(ValueLayout.JAVA_INT, 0);
            List<DeviceProperties> devices = new ArrayList<>();
            for (int ordinal = 0; ordinal < count; ordinal++) {
                devices.add(list.properties(ordinal));
            }
            return List.copyOf(devices);
        }
    }

    /** The driver's handle of a device. */
    static int handle(int ordinal) {
        try (Arena arena = Arena.ofConfined()) {
            return new DeviceList(arena).device(ordinal);
        }
    }

    private int device(int ordinal) {
        CuStatus.CHECK.check(CuDevice.cuDeviceGet(out.address(), ordinal), "cuDeviceGet(%d)", ordinal);
        return out.get(ValueLayout.JAVA_INT, 0);
    }

    private DeviceProperties properties(int ordinal) {
        int device = device(ordinal);
        CuStatus.CHECK.check(
                CuDevice.cuDeviceGetName(name.address(), NAME_BYTES, device), "cuDeviceGetName(%d)", ordinal);
        CuStatus.CHECK.check(CuDevice.cuDeviceTotalMem(out.address(), device), "cuDeviceTotalMem(%d)", ordinal);
        long memory = out.get(ValueLayout.JAVA_LONG, 0);
        return new DeviceProperties(
                ordinal,
                name.getString(0),
                new Architecture(
                        attribute(device, DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                        attribute(device, DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)),
                attribute(device, DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
                memory,
                attribute(device, DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
                attribute(device, DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
                attribute(device, DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
                attribute(device, DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
                attribute(device, DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
                attribute(device, DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
                attribute(device, DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0);
    }

    private int attribute(int device, int attribute) {
        CuStatus.CHECK.check(
                CuDevice.cuDeviceGetAttribute(out.address(), attribute, device),
                "cuDeviceGetAttribute(attribute=%d)",
                attribute);
        return out.get(ValueLayout.JAVA_INT, 0);
    }
}
