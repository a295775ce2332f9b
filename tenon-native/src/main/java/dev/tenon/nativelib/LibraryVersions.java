package dev.tenon.nativelib;

import static dev.tenon.nativelib.Downcalls.INT;
import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.handle;
import static dev.tenon.nativelib.Downcalls.status;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/** What a library says of its version, by whichever function it has for that. */
public final class LibraryVersions {
    private LibraryVersions() {}

    /** {@code 13.0}, {@code 9.14.0}; empty for a library that does not tell. Never throws. */
    public static String of(NativeLibrary library) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_INT, 2);
            Optional<MemorySegment> function = library.find("cuDriverGetVersion");
            if (function.isPresent()) {
                int number = number(function.get(), out);
                return number / 1000 + "." + number % 1000 / 10;
            }
            function = library.find("nvrtcVersion");
            if (function.isPresent()) {
                int answer = (int) handle(function.get(), status(LONG, LONG))
                        .invokeExact(out.address(), out.address() + Integer.BYTES);
                return answer != 0 ? "" : out.getAtIndex(INT, 0) + "." + out.getAtIndex(INT, 1);
            }
            function = library.find("ncclGetVersion");
            if (function.isPresent()) {
                int number = number(function.get(), out); // 2.9 changed the form: 2804 was 2.8.4, 22809 is 2.28.9
                return number < 10_000 ? dotted(number, 1000, 100) : dotted(number, 10_000, 100);
            }
            function = library.find("cudnnGetVersion");
            if (function.isPresent()) {
                int number = number(function.get()); // 8907 is 8.9.7, 91400 is 9.14.0
                return number < 10_000 ? dotted(number, 1000, 100) : dotted(number, 10_000, 100);
            }
            function = library.find("cublasLtGetVersion");
            if (function.isEmpty()) {
                return property(library.find("cublasGetProperty"), out);
            }
            int number = number(function.get());
            return number < 1_000_000 ? dotted(number, 10_000, 100) : dotted(number, 1_000_000, 1000);
        } catch (Throwable _) {
            return ""; // a library that cannot be asked is still there
        }
    }

    private static String property(Optional<MemorySegment> function, MemorySegment out) throws Throwable {
        if (function.isEmpty()) {
            return "";
        }
        StringBuilder version = new StringBuilder();
        for (int part = 0; part < 3; part++) { // major, minor, patch
            int answer = (int) handle(function.get(), status(INT, LONG)).invokeExact(part, out.address());
            if (answer != 0) {
                return "";
            }
            version.append(part == 0 ? "" : ".").append(out.getAtIndex(INT, 0));
        }
        return version.toString();
    }

    private static int number(MemorySegment function, MemorySegment out) throws Throwable {
        int answer = (int) handle(function, status(LONG)).invokeExact(out.address());
        return answer != 0 ? 0 : out.getAtIndex(INT, 0);
    }

    private static int number(MemorySegment function) throws Throwable {
        return Math.toIntExact(
                (long) handle(function, FunctionDescriptor.of(LONG)).invokeExact());
    }

    private static String dotted(int number, int major, int minor) {
        return number / major + "." + number % major / minor + "." + number % minor;
    }
}
