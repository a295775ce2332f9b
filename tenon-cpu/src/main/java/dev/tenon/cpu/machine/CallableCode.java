package dev.tenon.cpu.machine;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Locale;

/**
 * Code that can be called: {@code void f(void* arguments, void* a, void* b, void* c, void* d)}. Every kernel has this
 * one signature, because each further one costs the JVM some milliseconds. A record, so that compiled Java calls the
 * code without looking it up.
 */
public record CallableCode(MethodHandle code) {
    /** Of the memory for the arguments of any kernel. */
    public static final int ARGUMENT_BYTES =
            Math.max(Math.max(ProductCode.ARGUMENT_BYTES, RowCode.ARGUMENT_BYTES), TransposeCode.ARGUMENT_BYTES);

    /**
     * The floats of the processor's longest vector.
     *
     * @throws IllegalStateException if no kernel can run here; the message is the reason
     */
    public static int lanes() {
        requireSystem();
        Processor here = Processor.HERE;
        return here.avx512() ? 16 : here.avx2() ? 8 : 0;
    }

    /**
     * That kernels with vectors of that many floats can run here.
     *
     * @throws IllegalStateException if not; the message is the reason
     */
    static void require(int lanes) {
        if (lanes != 8 && lanes != 16 || lanes > lanes()) {
            throw new IllegalStateException("the processor has no vectors of " + lanes + " floats");
        }
    }

    private static void requireSystem() {
        String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        String architecture = System.getProperty("os.arch", "");
        if (!system.contains("linux") || !(architecture.equals("amd64") || architecture.equals("x86_64"))) {
            throw new IllegalStateException(
                    "machine code is for Linux on x86-64; this is " + system + " on " + architecture);
        }
        if (!CallableCode.class.getModule().isNativeAccessEnabled()) {
            throw new IllegalStateException(
                    "machine code wants --enable-native-access=ALL-UNNAMED (or dev.tenon.cpu) at the start of Java");
        }
    }

    /** @throws IllegalStateException if the system gives no memory for code */
    static CallableCode of(byte[] code) {
        return new CallableCode(ExecutableMemory.function(
                ExecutableMemory.place(code),
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS));
    }

    void call(MemorySegment arguments, MemorySegment a, MemorySegment b, MemorySegment c, MemorySegment d) {
        try {
            code.invokeExact(arguments, a, b, c, d);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e); // the code throws nothing
        }
    }
}
