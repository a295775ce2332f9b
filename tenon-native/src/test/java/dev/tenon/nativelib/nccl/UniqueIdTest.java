package dev.tenon.nativelib.nccl;

import static dev.tenon.nativelib.Downcalls.INT;
import static dev.tenon.nativelib.Downcalls.LONG;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.nativelib.Downcalls;
import dev.tenon.nativelib.NativeLibrary;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * That 128 bytes go by value between other arguments, and the first form of the configuration, as C sees them. Needs a
 * C compiler, not NCCL.
 */
class UniqueIdTest {
    private static final String PROBE = """
            #include <stddef.h>
            typedef struct { char internal[128]; } Id;
            typedef struct { size_t size; unsigned int magic; unsigned int version; int blocking; } Config;
            int probe(void** out, int ranks, Id id, int rank, Config* config) {
                int sum = 0;
                for (int i = 0; i < 128; i++) sum += (i + 1) * (unsigned char)id.internal[i];
                *out = (void*)(size_t)(sum + 1000000 * ranks + 100000000 * rank);
                return config->size == sizeof(Config) && config->magic == 0xcafebeef && config->version == 21400 ? config->blocking : -1;
            }
            """;

    @TempDir
    Path folder;

    @Test
    void goesByValue() throws Throwable {
        Path source = folder.resolve("probe.c");
        Path library = folder.resolve("libprobe.so");
        Files.writeString(source, PROBE);
        int code;
        try {
            code = new ProcessBuilder("cc", "-shared", "-fPIC", "-o", library.toString(), source.toString())
                    .inheritIO()
                    .start()
                    .waitFor();
        } catch (IOException e) {
            System.out.println("UniqueIdTest skipped: there is no C compiler");
            Assumptions.abort("there is no C compiler");
            return;
        }
        assertThat(code).isZero();
        MethodHandle probe = Downcalls.handle(
                NativeLibrary.open(library).require("probe"),
                Downcalls.status(LONG, INT, NcclConstants.UNIQUE_ID, INT, LONG));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment id = arena.allocate(NcclConstants.UNIQUE_ID);
            long sum = 0;
            for (int i = 0; i < NcclConstants.UNIQUE_ID_BYTES; i++) {
                id.set(ValueLayout.JAVA_BYTE, i, (byte) (3 * i));
                sum += (i + 1) * (3L * i & 0xFF);
            }
            for (boolean blocking : new boolean[] {true, false}) {
                int answer = (int) probe.invokeExact(
                        out.address(),
                        7,
                        id,
                        5,
                        NcclConfig.allocate(arena, blocking).address());
                assertThat(answer).isEqualTo(blocking ? 1 : 0);
                assertThat(out.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(sum + 7_000_000 + 500_000_000);
            }
        }
    }
}
