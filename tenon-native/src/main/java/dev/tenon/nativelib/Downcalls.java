package dev.tenon.nativelib;

import dev.tenon.core.lazy.Patience;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Optional;

/**
 * The one place that makes handles of C functions. A new descriptor costs about 3 ms at start and equal descriptors
 * share that cost, so bindings pass pointers as longs wherever the memory is theirs, and {@link MemorySegment}s only
 * where the caller's memory must be kept alive and checked during the call.
 */
public final class Downcalls {
    /** A pointer or a {@code size_t}. */
    public static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    public static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    /** A pointer to the caller's memory. */
    public static final AddressLayout ADDRESS = ValueLayout.ADDRESS;

    private Downcalls() {}

    /**
     * A handle for {@code invokeExact}; the function's address is bound. Class initialisers hold these, hence the
     * patience.
     */
    public static MethodHandle handle(MemorySegment function, FunctionDescriptor descriptor) {
        return Patience.make(() -> link(function, descriptor));
    }

    @SuppressWarnings("restricted") // this module is the one that links
    private static MethodHandle link(MemorySegment function, FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(function, descriptor);
    }

    /** Makes what handles of those descriptors share, so that the first of each costs little. */
    @SuppressWarnings("restricted") // no function is linked
    public static void prepare(List<FunctionDescriptor> descriptors) {
        for (FunctionDescriptor descriptor : descriptors) {
            MethodHandle _ = Linker.nativeLinker().downcallHandle(descriptor);
        }
    }

    /** The descriptor of a function that returns an {@code int}: most do, a status. */
    public static FunctionDescriptor status(MemoryLayout... arguments) {
        return FunctionDescriptor.of(INT, arguments);
    }

    /** A handle of that shape which throws when called: a missing symbol must not break the class that holds it. */
    public static MethodHandle missing(FunctionDescriptor descriptor, RuntimeException fault) {
        MethodHandle thrower = MethodHandles.throwException(
                        descriptor.toMethodType().returnType(), RuntimeException.class)
                .bindTo(fault);
        return MethodHandles.dropArguments(thrower, 0, descriptor.toMethodType().parameterList());
    }

    /** A function of the C library, where the platform's C library has it. */
    public static Optional<MemorySegment> standard(String symbol) {
        return Linker.nativeLinker().defaultLookup().find(symbol);
    }

    /** The zero-terminated string at an address that a library handed out; at most {@code longest} bytes of it. */
    @SuppressWarnings("restricted") // the library says that a string is there
    public static String string(long address, int longest) {
        if (address == 0) {
            return "";
        }
        MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(longest);
        int length = 0;
        while (length < longest && memory.get(ValueLayout.JAVA_BYTE, length) != 0) {
            length++;
        }
        byte[] bytes = memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
        return new String(bytes, java.nio.charset.StandardCharsets.UTF_8);
    }

    /** What a downcall throws: our own exceptions and errors as they are. Nothing else can come out of one. */
    public static RuntimeException rethrow(Throwable thrown) {
        if (thrown instanceof RuntimeException runtime) {
            return runtime;
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(thrown);
    }
}
