package dev.tenon.cuda.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import dev.tenon.cuda.store.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Entries that are damaged, unreadable, shared; keys (cases PC-01 a, PC-03 a). */
class KernelCacheTest {
    private static final Architecture SM_80 = new Architecture(8, 0);

    @TempDir
    Path folder;

    private final CountingCompiler compiler = new CountingCompiler("1", ModuleImage.Format.CUBIN);

    private CachingCompiler fresh() {
        return new CachingCompiler(compiler, new KernelCache(folder), () -> "13.0");
    }

    @Test
    void anEntryIsMadeOnceAndReadAgain() throws IOException {
        KernelSource source = CountingCompiler.source("a.cu");
        ModuleImage first = fresh().compile(source, SM_80);
        ModuleImage second = fresh().compile(source, SM_80);
        assertThat(compiler.compilations).hasValue(1);
        for (ModuleImage image : List.of(first, second)) {
            assertThat(CountingCompiler.text(image)).isEqualTo(compiler.expected(source, SM_80));
            assertThat(image.log()).isEqualTo("a log\nof two lines");
            assertThat(image.name()).isEqualTo("a.cu");
            assertThat(image.format()).isEqualTo(ModuleImage.Format.CUBIN);
            // the file starts with the image, so that a shared object can be opened in place
            assertThat(Files.readString(image.file(), java.nio.charset.StandardCharsets.ISO_8859_1))
                    .startsWith(compiler.expected(source, SM_80));
        }
        assertThat(second.file()).isEqualTo(first.file());
        assertThat(files()).hasSize(1);
    }

    @Test
    void imagesAtHandAreToldWithoutCompiling() {
        KernelSource source = CountingCompiler.source("a.cu");
        KernelCompiler none = new FailingCompiler("does not compile");
        KernelCompilers all = new KernelCompilers(List.of(fresh(), none));
        assertThat(fresh().holds(source, SM_80)).isFalse();
        assertThat(all.holds(source, SM_80)).isFalse();
        fresh().compile(source, SM_80);
        assertThat(fresh().holds(source, SM_80)).isTrue();
        assertThat(fresh().holds(source, new Architecture(9, 0))).isFalse();
        assertThat(all.holds(source, SM_80)).isTrue();
        // the first of them would compile, whatever stands behind it
        assertThat(new KernelCompilers(List.of(none, fresh())).holds(source, SM_80))
                .isFalse();
        assertThat(compiler.compilations).hasValue(1);
    }

    /** Whether nvcc is there takes two processes, and a caller waits for the answer. */
    @Test
    void whoIsSlowToFindIsNotAskedWhatIsAtHand() {
        KernelSource source = CountingCompiler.source("a.cu");
        KernelCompilers all = new KernelCompilers(List.of(
                new CachingCompiler(new NvccCompiler(), new KernelCache(folder), () -> {
                    throw new AssertionError("asked for its entries");
                }),
                fresh()));
        assertThat(all.holds(source, SM_80)).isFalse();
        fresh().compile(source, SM_80);
        assertThat(all.holds(source, SM_80)).isTrue();
    }

    @Test
    void anEntryUnderAnotherNameIsNone() throws IOException {
        KernelSource a = CountingCompiler.source("a.cu");
        KernelSource b = CountingCompiler.source("b.cu");
        Path first = fresh().compile(a, SM_80).file();
        Path second = fresh().compile(b, SM_80).file();
        byte[] bytes = Files.readAllBytes(first);
        Files.write(first, Files.readAllBytes(second));
        Files.write(second, bytes);
        assertThat(CountingCompiler.text(fresh().compile(a, SM_80))).isEqualTo(compiler.expected(a, SM_80));
        assertThat(CountingCompiler.text(fresh().compile(b, SM_80))).isEqualTo(compiler.expected(b, SM_80));
        assertThat(compiler.compilations).hasValue(4);
    }

    @Test
    @DisplayName("PC-01 damaged entries are made anew")
    void damagedEntriesAreMadeAnew() throws IOException {
        KernelSource source = CountingCompiler.source("a.cu");
        Path file = fresh().compile(source, SM_80).file();
        byte[] whole = Files.readAllBytes(file);
        List<Damage> damages = new ArrayList<>(List.of(
                () -> Files.write(file, java.util.Arrays.copyOf(whole, whole.length / 2)),
                () -> Files.write(file, new byte[0]),
                () -> Files.write(file, java.util.Arrays.copyOf(whole, whole.length + 1)),
                () -> {
                    Files.delete(file);
                    Files.createDirectory(file);
                },
                () -> {
                    Files.delete(file);
                    Files.createDirectories(file.resolve("in/it"));
                    Files.writeString(file.resolve("in/it/x"), "x");
                }));
        for (int at : new int[] {0, 1, whole.length / 2, whole.length - 90, whole.length - 50, whole.length - 1}) {
            damages.add(() -> {
                byte[] flipped = whole.clone();
                flipped[at] ^= 1;
                Files.write(file, flipped);
            });
        }
        int made = 1;
        for (Damage damage : damages) {
            damage.happen();
            assertThat(CountingCompiler.text(fresh().compile(source, SM_80)))
                    .isEqualTo(compiler.expected(source, SM_80));
            assertThat(compiler.compilations).hasValue(++made);
            assertThat(CountingCompiler.text(fresh().compile(source, SM_80)))
                    .isEqualTo(compiler.expected(source, SM_80));
            assertThat(compiler.compilations).hasValue(made);
            assertThat(Files.readAllBytes(file)).isEqualTo(whole);
            assertThat(files()).containsExactly(file);
        }
    }

    private interface Damage {
        void happen() throws IOException;
    }

    @Test
    void aFolderThatCannotBeWrittenCostsNothingButTime() throws IOException {
        Path notAFolder = Files.writeString(folder.resolve("file"), "x");
        for (Path place : List.of(notAFolder, notAFolder.resolve("below"), Path.of("/proc/tenon"))) {
            CachingCompiler caching = new CachingCompiler(compiler, new KernelCache(place), () -> "");
            KernelSource source = CountingCompiler.source("a.cu");
            for (int i = 0; i < 2; i++) {
                ModuleImage image = caching.compile(source, SM_80);
                assertThat(CountingCompiler.text(image)).isEqualTo(compiler.expected(source, SM_80));
                assertThat(image.file()).isNull();
            }
        }
        assertThat(compiler.compilations).hasValue(6);
    }

    @Test
    @DisplayName("PC-03 everything that decides is in the key")
    void everythingThatDecidesIsInTheKey() {
        KernelSource source = CountingCompiler.source("a.cu");
        KernelCache cache = new KernelCache(folder);
        Set<String> keys = new HashSet<>();
        int expected = 0;
        for (String version : List.of("12.4", "13.0")) {
            CachingCompiler caching =
                    new CachingCompiler(new CountingCompiler(version, ModuleImage.Format.CUBIN), cache, () -> "13.0");
            for (Architecture architecture :
                    List.of(SM_80, new Architecture(9, 0), new Architecture(9, 0).withSpecific())) {
                for (KernelSource one : List.of(
                        source,
                        new KernelSource("b.cu", source.text(), source.headers(), source.defines()),
                        new KernelSource("a.cu", source.text() + " ", source.headers(), source.defines()),
                        new KernelSource("a.cu", source.text(), Map.of("a.cuh", "header2"), source.defines()),
                        new KernelSource("a.cu", source.text(), Map.of("b.cuh", "header"), source.defines()),
                        new KernelSource("a.cu", source.text(), Map.of(), List.of("a.cuh", "header", "X=1")),
                        new KernelSource("a.cu", source.text(), source.headers(), List.of("X=2")),
                        new KernelSource("a.cu", source.text(), source.headers(), List.of()))) {
                    keys.add(caching.key(one, architecture));
                    expected++;
                }
            }
        }
        assertThat(keys).hasSize(expected);
        assertThat(fresh().key(source, SM_80)).isEqualTo(fresh().key(CountingCompiler.source("a.cu"), SM_80));
    }

    @Test
    @DisplayName("PC-03 ptx is kept for one driver and machine code for all")
    void ptxIsKeptForOneDriverAndMachineCodeForAll() {
        KernelSource source = CountingCompiler.source("a.cu");
        for (ModuleImage.Format format : List.of(ModuleImage.Format.PTX, ModuleImage.Format.CUBIN)) {
            CountingCompiler counting = new CountingCompiler("of " + format, format);
            for (String driver : List.of("12.4", "13.0", "12.4")) {
                new CachingCompiler(counting, new KernelCache(folder), () -> driver).compile(source, SM_80);
            }
            assertThat(counting.compilations).hasValue(format == ModuleImage.Format.PTX ? 2 : 1);
        }
    }

    @Test
    void threadsThatWantTheSameShareOneCompilation() throws Exception {
        CachingCompiler caching = fresh();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<ModuleImage>> images = new ArrayList<>();
            for (int i = 0; i < 400; i++) {
                KernelSource source = CountingCompiler.source(i % 4 + ".cu");
                images.add(threads.submit(() -> caching.compile(source, SM_80)));
            }
            for (int i = 0; i < 400; i++) {
                assertThat(CountingCompiler.text(images.get(i).get()))
                        .isEqualTo(compiler.expected(CountingCompiler.source(i % 4 + ".cu"), SM_80));
            }
        }
        assertThat(compiler.compilations).hasValue(4);
        assertThat(files()).hasSize(4);
    }

    @Test
    void aFailureIsNotKept() throws IOException {
        KernelCompiler failing = new FailingCompiler("does not compile");
        CachingCompiler caching = new CachingCompiler(failing, new KernelCache(folder), () -> "");
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> caching.compile(CountingCompiler.source("a.cu"), SM_80))
                    .isInstanceOf(NativeException.class)
                    .hasMessage("does not compile");
        }
        assertThat(files()).isEmpty();
    }

    @Test
    void whatKilledWritersLeftIsSweptAndLivingOnesAreNot() throws IOException {
        Path dead = Files.writeString(folder.resolve(".99999999-0123456789abcdef-1f.tmp"), "half");
        Path young = Files.writeString(folder.resolve(".99999998-0123456789abcdef-1f.tmp"), "half");
        Path living = Files.writeString(
                folder.resolve("." + ProcessHandle.current().pid() + "-0123456789abcdef-1f.tmp"), "half");
        Path foreign = Files.writeString(folder.resolve(".mine.tmp"), "not ours");
        FileTime before = FileTime.from(Instant.now().minusSeconds(120));
        for (Path file : List.of(dead, living, foreign)) {
            Files.setLastModifiedTime(file, before);
        }
        fresh().compile(CountingCompiler.source("a.cu"), SM_80);
        assertThat(dead).doesNotExist();
        assertThat(young).exists();
        assertThat(living).exists();
        assertThat(foreign).exists();
    }

    @Test
    void theFolderFollowsTheEnvironment() {
        Path home = Path.of("/home/x");
        assertThat(Store.folder(Map.of(), home)).isEqualTo(Path.of("/home/x/.cache/tenon"));
        assertThat(Store.folder(Map.of("XDG_CACHE_HOME", "/c"), home)).isEqualTo(Path.of("/c/tenon"));
        assertThat(Store.folder(Map.of("XDG_CACHE_HOME", "c"), home)).isEqualTo(Path.of("/home/x/.cache/tenon"));
        assertThat(Store.folder(Map.of("XDG_CACHE_HOME", "/c", "TENON_KERNEL_CACHE", "/k"), home))
                .isEqualTo(Path.of("/k"));
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }
}
