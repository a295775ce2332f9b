package dev.tenon.nativelib;

import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.handle;
import static dev.tenon.nativelib.Downcalls.status;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/** Which drivers of CUDA will do, asked before any is started. */
public final class DriverVersion {
    /** The oldest one, as {@code cuDriverGetVersion} tells it. */
    public static final int OLDEST = 12000;

    /** What the toolkit's library for linking answers to every call: {@code CUDA_ERROR_STUB_LIBRARY}. */
    private static final int STUB_LIBRARY = 34;

    private DriverVersion() {}

    /** Why an opened file is no driver that will do; empty when it is. Never throws. */
    public static String refusal(NativeLibrary library) {
        Optional<MemorySegment> function = library.find("cuDriverGetVersion");
        if (function.isEmpty()) {
            return "is not CUDA's driver: it has no cuDriverGetVersion";
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment version = arena.allocate(ValueLayout.JAVA_INT);
            int answer = (int) handle(function.get(), status(LONG)).invokeExact(version.address());
            if (answer == STUB_LIBRARY) {
                return "is the toolkit's stub for linking, not a driver";
            }
            int number = version.get(ValueLayout.JAVA_INT, 0);
            if (answer != 0) {
                return "cuDriverGetVersion answers " + answer;
            }
            if (number < OLDEST || library.find("cuGetProcAddress_v2").isEmpty()) {
                return "is a driver for CUDA " + text(number) + "; " + text(OLDEST) + " or newer is needed";
            }
            return "";
        } catch (Throwable t) {
            return "cuDriverGetVersion cannot be called: " + t;
        }
    }

    /** {@code 13.0} for 13000. */
    public static String text(int version) {
        return version / 1000 + "." + version % 1000 / 10;
    }
}
