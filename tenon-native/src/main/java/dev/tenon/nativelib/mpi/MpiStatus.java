package dev.tenon.nativelib.mpi;

import dev.tenon.core.error.NativeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** What MPI's functions return, checked. */
public final class MpiStatus {
    public static final int SUCCESS = 0;
    private static final int LONGEST = 512;

    private MpiStatus() {}

    /**
     * @param call the call with its arguments that tell, {@code "MPI_Ibcast on rank 3"}
     * @throws NativeException unless the status is 0, with MPI's own words
     */
    public static void check(int status, String call) {
        if (status != SUCCESS) {
            throw NativeException.of(
                    "Open MPI: " + call + " failed: " + text(status) + " (" + status + ")", call, status);
        }
    }

    private static String text(int status) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(LONGEST);
            MemorySegment length = arena.allocate(ValueLayout.JAVA_INT);
            return Mpi.MPI_Error_string(status, text.address(), length.address()) == SUCCESS
                    ? text.getString(0)
                    : "no text";
        }
    }
}
