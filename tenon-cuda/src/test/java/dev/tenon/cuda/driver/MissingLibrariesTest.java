package dev.tenon.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.testkit.ChildJvm;
import dev.tenon.cuda.compile.NvrtcCompiler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A driver that is absent, a text file, a stub, too old (case ML-01). Where the machine has a real one, that is found
 * behind the bad one.
 */
class MissingLibrariesTest {
    @TempDir
    Path folder;

    @Test
    void aTextFileIsRefusedInOneLine() throws Exception {
        Files.writeString(folder.resolve("libcuda.so.1"), "this is not a library\n");
        Files.writeString(folder.resolve("libnvrtc.so.13"), "nor is this\n");
        for (String variable : new String[] {"LD_LIBRARY_PATH", "TENON_LIBRARY_PATH"}) {
            String out = asks(Map.of(variable, folder.toString()));
            refusedOrBehind(out, folder.resolve("libcuda.so.1") + ": ", "install an NVIDIA driver");
        }
    }

    @Test
    void theToolkitsStubIsRefusedInOneLine() throws Exception {
        library(
                "int cuDriverGetVersion(int *v) { return 34; } int cuInit(unsigned f) { return 34; }"
                        + " int cuGetProcAddress_v2(const char *s, void **p, int v, unsigned long long f, int *r) { return 34; }");
        refusedOrBehind(asks(Map.of("LD_LIBRARY_PATH", folder.toString())), "stub");
        refusedOrBehind(asks(Map.of("TENON_LIBRARY_PATH", folder.toString())), "stub");
    }

    @Test
    void anOldDriverIsRefusedInOneLine() throws Exception {
        library("int cuDriverGetVersion(int *v) { *v = 11040; return 0; }");
        refusedOrBehind(asks(Map.of("TENON_LIBRARY_PATH", folder.toString())), "CUDA 11.4; 12.0 or newer is needed");
    }

    @Test
    void aLibraryOfAnotherKindIsRefusedInOneLine() throws Exception {
        library("int nothing;");
        refusedOrBehind(asks(Map.of("TENON_LIBRARY_PATH", folder.toString())), "is not CUDA's driver");
    }

    @Test
    void anAbsentDriverIsOneLine() throws Exception {
        refusedOrBehind(asks(Map.of()), "not found under libcuda.so.1, libcuda.so");
    }

    private static String asks(Map<String, String> environment) throws Exception {
        ChildJvm.Result result = ChildJvm.run(Asks.class, environment);
        assertThat(result.code()).as(result.out()).isZero();
        assertThat(result.crashed()).isFalse();
        assertThat(result.out()).doesNotContain("\tat ", "ExceptionInInitializerError", "NoClassDefFoundError");
        return result.out();
    }

    private static void refusedOrBehind(String out, String... words) {
        if (out.contains("devices: 0")) {
            assertThat(out).contains(words);
            assertThat(out).contains("same: true", "open: UnsupportedException cuda:0: libcuda: ");
        } else {
            assertThat(out).contains("reason: \n");
        }
    }

    private void library(String source) throws IOException, InterruptedException {
        Path file = Files.writeString(folder.resolve("fake.c"), source);
        Process compiler;
        try {
            compiler = new ProcessBuilder(
                            "cc",
                            "-shared",
                            "-fPIC",
                            "-o",
                            folder.resolve("libcuda.so.1").toString(),
                            file.toString())
                    .inheritIO()
                    .start();
        } catch (IOException e) {
            Assumptions.abort("no C compiler: " + e.getMessage());
            return;
        }
        assertThat(compiler.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(compiler.exitValue()).isZero();
    }

    /** The child. */
    static final class Asks {
        public static void main(String[] arguments) {
            CudaDriver driver = new CudaDriver();
            String reason = driver.unavailable();
            System.out.println("reason: " + reason);
            System.out.println("same: " + reason.equals(new CudaDriver().unavailable()));
            System.out.println("devices: " + driver.devices().size());
            System.out.println("version: " + driver.version());
            for (int i = 0; i < 2; i++) {
                try (var context = driver.open(0)) {
                    System.out.println("open: " + context.device().name());
                } catch (UnsupportedException e) {
                    System.out.println("open: UnsupportedException " + e.getMessage());
                }
            }
            System.out.println("nvrtc: " + new NvrtcCompiler().unavailable());
        }
    }
}
