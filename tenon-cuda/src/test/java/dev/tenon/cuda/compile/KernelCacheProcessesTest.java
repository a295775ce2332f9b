package dev.tenon.cuda.compile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.testkit.ChildJvm;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many processes on one folder, and one killed in the middle of a write (case PC-01 b, c). */
class KernelCacheProcessesTest {
    private static final Architecture SM_80 = new Architecture(8, 0);
    private static final int PADDING = 200_000;

    @TempDir
    Path temporary;

    @Test
    @DisplayName("PC-01 eight processes of four threads start cold")
    void eightProcessesOfFourThreadsStartCold() throws Exception {
        Path folder = temporary.resolve("cache");
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            processes.add(ChildJvm.start(
                    Cold.class,
                    Map.of("TENON_KERNEL_CACHE", folder.toString()),
                    temporary.resolve("out" + i),
                    temporary.resolve("err" + i)));
        }
        for (int i = 0; i < 8; i++) {
            assertThat(processes.get(i).waitFor(120, TimeUnit.SECONDS)).isTrue();
            assertThat(Files.readString(temporary.resolve("out" + i)).strip()).isEqualTo("20 right");
            assertThat(processes.get(i).exitValue()).isZero();
        }
        CountingCompiler warm = new CountingCompiler("1", ModuleImage.Format.CUBIN, PADDING);
        CachingCompiler caching = new CachingCompiler(warm, new KernelCache(folder), () -> "");
        for (int kernel = 0; kernel < 5; kernel++) {
            KernelSource source = CountingCompiler.source(kernel + ".cu");
            assertThat(CountingCompiler.text(caching.compile(source, SM_80))).isEqualTo(warm.expected(source, SM_80));
        }
        assertThat(warm.compilations).hasValue(0);
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).hasSize(5);
        }
    }

    /** A child: four threads, five kernels each. */
    static final class Cold {
        public static void main(String[] arguments) throws InterruptedException {
            CountingCompiler compiler = new CountingCompiler("1", ModuleImage.Format.CUBIN, PADDING);
            CachingCompiler caching = new CachingCompiler(compiler, KernelCache.standard(), () -> "");
            AtomicInteger right = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int kernel = 0; kernel < 5; kernel++) {
                        KernelSource source = CountingCompiler.source(kernel + ".cu");
                        String text = CountingCompiler.text(caching.compile(source, SM_80));
                        right.addAndGet(text.equals(compiler.expected(source, SM_80)) ? 1 : 0);
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            System.out.println(right + " right");
        }
    }

    @Test
    @DisplayName("PC-01 a process that is killed leaves whole entries only")
    void aProcessThatIsKilledLeavesWholeEntriesOnly() throws Exception {
        Path folder = temporary.resolve("cache");
        Process child = ChildJvm.start(
                Writing.class,
                Map.of("TENON_KERNEL_CACHE", folder.toString()),
                temporary.resolve("out"),
                temporary.resolve("err"));
        Path unfinished = null;
        for (int i = 0; i < 20_000 && unfinished == null; i++) {
            unfinished = temporaries(folder).stream().findFirst().orElse(null);
            Thread.sleep(1);
        }
        child.destroyForcibly().waitFor();
        List<Path> left = temporaries(folder);
        CountingCompiler compiler = new CountingCompiler("1", ModuleImage.Format.CUBIN, Writing.PADDING);
        KernelCache cache = new KernelCache(folder);
        for (int kernel = 0; kernel < 3; kernel++) {
            KernelSource source = CountingCompiler.source(kernel + ".cu");
            assertThat(CountingCompiler.text(new CachingCompiler(compiler, cache, () -> "").compile(source, SM_80)))
                    .isEqualTo(compiler.expected(source, SM_80));
        }
        for (Path file : left) { // a minute later
            Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(90)));
        }
        new CachingCompiler(compiler, new KernelCache(folder), () -> "")
                .compile(CountingCompiler.source("another.cu"), SM_80);
        assertThat(temporaries(folder)).isEmpty();
    }

    private static List<Path> temporaries(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".tmp")).toList();
        }
    }

    /** A child that writes until it is killed. */
    static final class Writing {
        static final int PADDING = 30_000_000;

        public static void main(String[] arguments) {
            CountingCompiler compiler = new CountingCompiler("1", ModuleImage.Format.CUBIN, PADDING);
            CachingCompiler caching = new CachingCompiler(compiler, KernelCache.standard(), () -> "");
            for (int kernel = 0; ; kernel++) {
                caching.compile(CountingCompiler.source(kernel + ".cu"), SM_80);
            }
        }
    }

    @Test
    void aFolderThatIsNoneIsSaidOnce() throws Exception {
        Path file = Files.writeString(temporary.resolve("file"), "no folder");
        Process child = ChildJvm.start(
                Cold.class,
                Map.of("TENON_KERNEL_CACHE", file.toString()),
                temporary.resolve("out"),
                temporary.resolve("err"));
        assertThat(child.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(Files.readString(temporary.resolve("out"))).contains("20 right");
        assertThat(Files.readAllLines(temporary.resolve("out")).stream()
                        .filter(line -> line.contains("kernel cache: ")))
                .singleElement()
                .asString()
                .contains("cannot be kept in " + file);
    }
}
