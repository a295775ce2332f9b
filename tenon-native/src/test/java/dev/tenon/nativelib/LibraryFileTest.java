package dev.tenon.nativelib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.core.error.NativeException;
import dev.tenon.nativelib.LibrarySearch.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The loader ends the process on a file that is cut off, so none of these may reach it. */
class LibraryFileTest {
    private static final LibraryName THING =
            new LibraryName("thing", List.of("libtenoncut.so.1"), List.of(), "things", "install it");

    @TempDir
    Path root;

    private byte[] whole = {};

    @BeforeEach
    void library() throws IOException {
        assumeTrue(Machine.here().system() == Machine.Os.LINUX);
        Path library = Stream.of("/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib")
                .map(folder -> Path.of(folder, "libm.so.6"))
                .filter(Files::exists)
                .findFirst()
                .orElseThrow(() -> new org.opentest4j.TestAbortedException("no libm.so.6 at a usual place"));
        whole = Files.readAllBytes(library);
    }

    private Machine machine(Map<String, String> environment) {
        return new Machine(Machine.Os.LINUX, Machine.here().x86(), environment, root, root.resolve("home/me"));
    }

    private Path copy(String folder, int bytes) throws IOException {
        Path file = Files.createDirectories(root.resolve(folder)).resolve("libtenoncut.so.1");
        return Files.write(file, Arrays.copyOf(whole, bytes));
    }

    @Test
    void filesThatAreCutOffAreRefusedAtEveryLength() throws IOException {
        for (int bytes :
                new int[] {4, 63, 64, 100, 3000, 4096, whole.length / 2, whole.length - 4096, whole.length - 1}) {
            Path cut = copy("own", bytes);
            assertThat(LibraryFile.fault(machine(Map.of()), cut))
                    .as("%d of %d bytes", bytes, whole.length)
                    .startsWith("is cut off: " + bytes + " bytes, its headers speak of ");
            assertThatThrownBy(() -> NativeLibrary.open(cut))
                    .isInstanceOf(NativeException.class)
                    .hasMessageContaining(cut + ": is cut off");
        }
        assertThat(LibraryFile.fault(machine(Map.of()), copy("own", whole.length)))
                .isEmpty();
        assertThat(LibraryFile.fault(machine(Map.of()), copy("own", 3000))).endsWith(" " + whole.length);
    }

    @Test
    void theSearchGoesOnToTheWholeOne() throws IOException {
        Path cut = copy("own", 3000);
        Path whole = copy("usr/local/lib", this.whole.length);
        for (String variable : List.of("TENON_LIBRARY_PATH", "LD_LIBRARY_PATH")) {
            LibrarySearch search =
                    new LibraryFinder(machine(Map.of(variable, cut.getParent().toString()))).search(THING);
            assertThat(search.opened())
                    .hasValueSatisfying(library -> assertThat(library.name()).isEqualTo(whole.toString()));
            assertThat(search.attempts())
                    .filteredOn(attempt -> attempt.outcome() == Outcome.REFUSED)
                    .singleElement()
                    .satisfies(attempt -> assertThat(attempt.detail()).startsWith(cut + ": is cut off: 3000 bytes"));
        }
    }

    @Test
    void filesInTheLoadersOwnFoldersAreNotMetByName() throws IOException {
        Path cut = copy("usr/lib64", 3000);
        LibrarySearch search = new LibraryFinder(machine(Map.of())).search(THING);
        assertThat(search.reason()).startsWith("thing: " + cut + ": is cut off: 3000 bytes");
    }

    @Test
    void filesThatTheLoadersCacheKnowsAreLookedAt() throws IOException {
        Path cut = copy("odd", 3000);
        Path cache = Files.createDirectories(root.resolve("etc")).resolve("ld.so.cache");
        Files.writeString(cache, "glibc-ld.so.cache1.1\0libtenoncut.so.1\0" + cut + "\0/lib/libz.so.1\0");
        assertThat(new LibraryFinder(machine(Map.of())).search(THING).reason())
                .startsWith("thing: " + cut + ": is cut off: 3000 bytes");
        copy("odd", whole.length);
        assertThat(new LibraryFinder(machine(Map.of())).search(THING).opened())
                .hasValueSatisfying(library -> assertThat(library.name()).isEqualTo(cut.toString()));
    }

    @Test
    void whatIsNoRegularFileIsPassedOverByName() throws IOException {
        Path folder = Files.createDirectories(root.resolve("own/libtenoncut.so.1"));
        LibrarySearch search = new LibraryFinder(
                        machine(Map.of("TENON_LIBRARY_PATH", root.resolve("own").toString())))
                .search(THING);
        assertThat(search.reason()).isEqualTo("thing: " + folder + ": is a folder; install it");
        assertThat(LibraryFile.fault(machine(Map.of()), Path.of("/dev/null"))).isEqualTo("is not a regular file");
        assertThat(LibraryFile.fault(machine(Map.of()), root.resolve("none"))).isEmpty();
    }

    @Test
    void librariesOfOtherMachinesAreNamed() throws IOException {
        Path file = copy("own", whole.length);
        byte[] other = whole.clone();
        other[18] = (byte) (Machine.here().x86() ? 183 : 62);
        Files.write(file, other);
        assertThat(LibraryFile.fault(machine(Map.of()), file)).startsWith("is for another processor (ELF machine ");
        other = whole.clone();
        other[4] = 1;
        Files.write(file, other);
        assertThat(LibraryFile.fault(machine(Map.of()), file)).contains("64-bit");
        other = whole.clone();
        other[16] = 1;
        Files.write(file, other);
        assertThat(LibraryFile.fault(machine(Map.of()), file)).isEqualTo("is not a shared object (ELF type 1)");
        other = whole.clone();
        other[39] = -1; // the program headers' place
        Files.write(file, other);
        assertThat(LibraryFile.fault(machine(Map.of()), file)).startsWith("is cut off");
    }
}
