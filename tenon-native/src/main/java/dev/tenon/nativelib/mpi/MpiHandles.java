package dev.tenon.nativelib.mpi;

/**
 * Open MPI's predefined handles: the addresses of data in the library. Every method throws a
 * {@link dev.tenon.core.error.NativeException} when there is no Open MPI.
 */
public final class MpiHandles {
    /** In place of a source: it is where the result goes. */
    public static final long IN_PLACE = 1;

    public static final long STATUS_IGNORE = 0;
    public static final int THREAD_SERIALIZED = 2;

    private MpiHandles() {}

    public static long commWorld() {
        return address("ompi_mpi_comm_world");
    }

    public static long errorsReturn() {
        return address("ompi_mpi_errors_return");
    }

    public static long float32() {
        return address("ompi_mpi_float");
    }

    public static long float64() {
        return address("ompi_mpi_double");
    }

    /** The signed integer of so many bytes: 1, 2, 4 or 8. */
    public static long integer(int bytes) {
        return address("ompi_mpi_int" + 8 * bytes + "_t");
    }

    /** {@code sum}, {@code prod}, {@code max} or {@code min}. */
    public static long op(String name) {
        return address("ompi_mpi_op_" + name);
    }

    private static long address(String name) {
        return MpiLibrary.symbol(name).address();
    }
}
