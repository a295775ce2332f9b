package dev.tenon.cpu.machine;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Places code in pages of its own, which can be run and, from then on, not be written. They stay for the process. */
final class ExecutableMemory {
    private static final int READ_WRITE = 1 | 2;
    private static final int READ_EXECUTE = 1 | 4;
    private static final int PRIVATE_ANONYMOUS = 0x02 | 0x20;
    private static final long FAILED = -1;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle MMAP = standard(
            "mmap",
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_LONG);
    private static final MethodHandle MPROTECT = standard(
            "mprotect", ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT);

    private ExecutableMemory() {}

    /**
     * The address of a copy of that code.
     *
     * @throws IllegalStateException if the system gives no such memory; the message says what it refused
     */
    static long place(byte[] code) {
        try {
            long address = (long) MMAP.invokeExact(0L, (long) code.length, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0L);
            if (address == FAILED) {
                throw new IllegalStateException("mmap gave no memory for " + code.length + " bytes of code");
            }
            pages(address, code.length).copyFrom(MemorySegment.ofArray(code));
            if ((int) MPROTECT.invokeExact(address, (long) code.length, READ_EXECUTE) != 0) {
                throw new IllegalStateException("mprotect does not let memory be executed");
            }
            return address;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e); // C functions throw nothing
        }
    }

    @SuppressWarnings("restricted") // the pages that mmap has just given
    private static MemorySegment pages(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes, Arena.global(), null);
    }

    /** A function of the C library. @throws IllegalStateException if there is none */
    @SuppressWarnings("restricted") // functions of the C library, by their own signatures
    static MethodHandle standard(String name, MemoryLayout result, MemoryLayout... arguments) {
        MemorySegment function = LINKER.defaultLookup()
                .find(name)
                .orElseThrow(() -> new IllegalStateException("the C library has no " + name));
        return LINKER.downcallHandle(function, FunctionDescriptor.of(result, arguments));
    }

    /** A handle of placed code that returns nothing. */
    @SuppressWarnings("restricted") // code of this package, by the signature it is written for
    static MethodHandle function(long address, MemoryLayout... arguments) {
        return LINKER.downcallHandle(MemorySegment.ofAddress(address), FunctionDescriptor.ofVoid(arguments));
    }
}
