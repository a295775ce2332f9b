package dev.tenon.nativelib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.NativeException;
import dev.tenon.nativelib.LibrarySearch.Attempt;
import dev.tenon.nativelib.LibrarySearch.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibraryFinderTest {
    private static final LibraryName NONE = new LibraryName(
            "thing", List.of("libtenonthing.so.2", "libtenonthing.so.1"), List.of("thing.dll"), "things", "install it");

    @TempDir
    Path root;

    private LibrarySearch search(LibraryName library, Map<String, String> environment) {
        Machine machine = new Machine(Machine.Os.LINUX, true, environment, root, root.resolve("home/me"));
        return new LibraryFinder(machine).search(library);
    }

    private Path folder(String name) throws IOException {
        return Files.createDirectories(root.resolve(name));
    }

    @Test
    void aHiddenLibraryIsNotLookedFor() {
        LibraryName twelve =
                new LibraryName("thing 12", List.of("libtenonthing.so.12"), List.of(), "things", "install it");
        for (LibraryName library : List.of(NONE, twelve)) {
            LibrarySearch search = search(library, Map.of("TENON_HIDE_LIBRARIES", "other, thing"));
            assertThat(search.found()).isNull();
            assertThat(search.attempts()).hasSize(1);
            assertThat(search.reason()).contains("hidden by TENON_HIDE_LIBRARIES");
        }
        assertThat(search(NONE, Map.of("TENON_HIDE_LIBRARIES", "some,thin")).attempts())
                .hasSizeGreaterThan(1);
    }

    @Test
    void everyPlaceIsTriedInOrder() throws IOException {
        Path own = folder("own");
        List<Path> inOrder = List.of(
                folder("cuda-home/lib64"),
                folder("cuda-home/targets/x86_64-linux/lib"),
                folder("usr/local/cuda/lib64"),
                folder("usr/local/cuda-13.1/targets/x86_64-linux/lib"),
                folder("usr/local/cuda-12.4/lib"),
                folder("venv/lib/python3.12/site-packages/nvidia/cublas/lib"),
                folder("venv/lib/python3.12/site-packages/nvidia/cu13/lib"),
                folder("home/me/.local/lib/python3.11/site-packages/nvidia/cudnn/lib"),
                folder("usr/lib/x86_64-linux-gnu"),
                folder("usr/lib64"));
        folder("usr/lib/aarch64-linux-gnu");
        folder("usr/local/cuda/targets/sbsa-linux/lib");
        LibrarySearch search = search(
                NONE,
                Map.of(
                        "TENON_LIBRARY_PATH",
                        own.toString(),
                        "CUDA_HOME",
                        root.resolve("cuda-home").toString(),
                        "VIRTUAL_ENV",
                        root.resolve("venv").toString()));
        assertThat(search.found()).isNull();
        List<String> places = new java.util.ArrayList<>(search.places());
        assertThat(places).startsWith(own.toString(), LibraryFinder.LOADER);
        places.retainAll(inOrder.stream().map(Path::toString).toList());
        assertThat(places)
                .containsExactlyElementsOf(inOrder.stream().map(Path::toString).toList());
        assertThat(search.places()).noneMatch(place -> place.contains("sbsa") || place.contains("aarch64"));
        assertThat(search.files()).containsExactly("libtenonthing.so.2", "libtenonthing.so.1");
        assertThat(search.attempts()).allMatch(attempt -> attempt.outcome() == Outcome.NOT_THERE);
        assertThat(search.reason())
                .startsWith("thing: not found under libtenonthing.so.2, libtenonthing.so.1 in ")
                .endsWith("; install it");
    }

    @Test
    void aFileThatIsNoLibraryIsNamedAndTheSearchGoesOn() throws IOException {
        Path bad = Files.writeString(folder("usr/lib64").resolve("libtenonthing.so.1"), "text\n");
        Path empty = Files.createFile(folder("usr/lib").resolve("libtenonthing.so.2"));
        LibrarySearch search = search(NONE, Map.of());
        assertThat(search.attempts())
                .filteredOn(attempt -> attempt.outcome() == Outcome.REFUSED)
                .extracting(Attempt::detail)
                .hasSize(2)
                .anySatisfy(detail -> assertThat(detail).contains(bad.toString()))
                .anySatisfy(detail -> assertThat(detail).contains(empty.toString()));
        assertThat(search.reason().lines()).hasSize(1);
    }

    @Test
    void aLibraryThatWillNotDoIsPassedOver() throws IOException {
        Path c = standardLibrary();
        Path place = folder("usr/lib64").resolve("libtenonthing.so.1");
        Files.createSymbolicLink(place, c);
        LibrarySearch found = search(NONE, Map.of());
        assertThat(found.opened()).hasValueSatisfying(library -> {
            assertThat(library.name()).isEqualTo(place.toString());
            assertThat(library.find("strlen")).isPresent();
            assertThatThrownBy(() -> library.require("no_such_symbol"))
                    .isInstanceOf(NativeException.class)
                    .hasMessageContaining("no_such_symbol");
        });
        assertThat(found.reason()).isEmpty();
        LibrarySearch refused = search(NONE.withRefusal(library -> "is a stub"), Map.of());
        assertThat(refused.found()).isNull();
        assertThat(refused.reason()).isEqualTo("thing: " + place + ": is a stub; install it");
    }

    @Test
    void answersAreKept() {
        LibraryFinder finder = new LibraryFinder(new Machine(Machine.Os.LINUX, true, Map.of(), root, root));
        assertThat(finder.search(NONE)).isSameAs(finder.search(NONE));
    }

    @Test
    void otherSystemsHaveNoLibraries() {
        Machine other = new Machine(Machine.Os.OTHER, true, Map.of(), root, root);
        assertThat(new LibraryFinder(other).search(NONE).reason())
                .isEqualTo("thing: there is none for this operating system; install it");
        assertThat(CudaLibraries.ALL).allSatisfy(library -> {
            assertThat(new LibraryFinder(other).search(library).found()).isNull();
            assertThat(library.lost()).isNotBlank();
            assertThat(library.fix()).isNotBlank();
        });
    }

    @Test
    void theLoadersWordsComeThrough() throws IOException {
        Path bad = Files.writeString(root.resolve("libbad.so"), "text");
        assertThatThrownBy(() -> NativeLibrary.open(bad))
                .isInstanceOf(NativeException.class)
                .hasMessageContaining(bad.toString());
    }

    private static Path standardLibrary() {
        for (String place : List.of("/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib")) {
            Path file = Path.of(place, "libc.so.6");
            if (Files.exists(file)) {
                return file;
            }
        }
        throw new org.opentest4j.TestAbortedException("no libc.so.6 at a usual place");
    }
}
