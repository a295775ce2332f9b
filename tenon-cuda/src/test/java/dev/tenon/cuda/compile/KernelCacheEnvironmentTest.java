package dev.tenon.cuda.compile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Places where no kernel can be kept (case PC-02): right results, and exactly one warning that names the place and the
 * variable.
 */
class KernelCacheEnvironmentTest {
    private static final Architecture SM_80 = new Architecture(8, 0);
    private static final Path SETPRIV = Path.of("/usr/bin/setpriv");

    @TempDir
    Path temporary;

    private Path cache;

    @BeforeEach
    void openToOthers() throws IOException {
        Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxr-xr-x"));
        cache = Files.createDirectory(temporary.resolve("cache"));
        Files.setPosixFilePermissions(cache, PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    /** A child: five kernels, twice each. */
    static final class Smoke {
        public static void main(String[] arguments) {
            CountingCompiler compiler = new CountingCompiler("1", ModuleImage.Format.CUBIN, 4096);
            int right = 0;
            for (int i = 0; i < 10; i++) {
                KernelSource source = CountingCompiler.source(i % 5 + ".cu");
                ModuleImage image =
                        new CachingCompiler(compiler, KernelCache.standard(), () -> "").compile(source, SM_80);
                right += CountingCompiler.text(image).equals(compiler.expected(source, SM_80)) ? 1 : 0;
            }
            System.out.println(right + " right");
        }
    }

    /** Runs the child by a shell that first does {@code before}, as a user without the rights of root. */
    private void smoke(String before, String variables, String flags, String place) throws Exception {
        boolean root = "root".equals(System.getProperty("user.name"));
        Assumptions.assumeTrue(!root || Files.isExecutable(SETPRIV), "root may do everything, and there is no setpriv");
        List<String> command = new ArrayList<>();
        if (root) {
            command.addAll(List.of(SETPRIV.toString(), "--reuid=65534", "--regid=65534", "--clear-groups"));
        }
        String java =
                Path.of(System.getProperty("java.home"), "bin", "java") + " -XX:-UsePerfData -XX:+UseSerialGC " + flags
                        + " --enable-native-access=ALL-UNNAMED -cp '" + System.getProperty("java.class.path") + "' "
                        + "'" + Smoke.class.getName() + "'";
        command.addAll(List.of("/bin/sh", "-c", before + " exec env " + variables + " " + java));
        Process process =
                new ProcessBuilder(command).directory(Path.of("/").toFile()).start();
        process.getOutputStream().close();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(out.strip()).as(err).isEqualTo("10 right");
        assertThat(process.exitValue()).isZero();
        assertThat(err.lines().filter(line -> line.contains("kernel cache:")))
                .as(err)
                .singleElement()
                .asString()
                .contains(place)
                .contains("TENON_KERNEL_CACHE");
        assertThat(err).doesNotContain("\tat ");
    }

    private String cacheVariable() {
        return "TENON_KERNEL_CACHE='" + cache + "'";
    }

    @Test
    void pc02aHomeThatIsNotThereCostsOneWarning() throws Exception {
        smoke(
                "",
                "-u XDG_CACHE_HOME -u TENON_KERNEL_CACHE HOME=/nonexistent",
                "-Duser.home=/nonexistent",
                "/nonexistent");
    }

    @Test
    void pc02bReadOnlyFolderCostsOneWarning() throws Exception {
        Files.setPosixFilePermissions(cache, PosixFilePermissions.fromString("r-xr-xr-x"));
        smoke("", cacheVariable(), "", cache.toString());
    }

    @Test
    void pc02cFileInPlaceOfTheFolderCostsOneWarning() throws Exception {
        Files.delete(cache);
        Files.writeString(cache, "x");
        smoke("", cacheVariable(), "", cache.toString());
    }

    @Test
    void pc02dUnreadableEntriesCostOneWarning() throws Exception {
        CountingCompiler compiler = new CountingCompiler("1", ModuleImage.Format.CUBIN, 4096);
        for (int i = 0; i < 5; i++) {
            new CachingCompiler(compiler, new KernelCache(cache), () -> "")
                    .compile(CountingCompiler.source(i + ".cu"), SM_80);
        }
        try (Stream<Path> entries = Files.list(cache)) {
            for (Path entry : entries.toList()) {
                Files.setPosixFilePermissions(entry, PosixFilePermissions.fromString("---------"));
            }
        }
        smoke("", cacheVariable(), "", cache.toString());
    }

    /** A limit on the size of files stands in for a full disk: both fail a write half-way. */
    @Test
    void pc02eFullDiskCostsOneWarning() throws Exception {
        smoke("ulimit -f 1;", cacheVariable(), "", cache.toString());
        try (Stream<Path> left = Files.list(cache)) {
            assertThat(left).as("half-written entries").isEmpty();
        }
    }

    @Test
    void pathOutsideTheLocaleIsPassedOver() throws Exception {
        smoke(
                "",
                "-u LANG LC_ALL=C TENON_KERNEL_CACHE=\"$(printf '/tmp/\\346\\250\\241')\" XDG_CACHE_HOME='" + cache
                        + "'",
                "",
                "");
    }
}
