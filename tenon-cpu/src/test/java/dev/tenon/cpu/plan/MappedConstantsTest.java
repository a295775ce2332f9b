package dev.tenon.cpu.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pages that are forgotten are there again when they are read, and those that were written to are not forgotten. */
class MappedConstantsTest {
    private static final int BYTES = 1 << 20;

    @TempDir
    Path folder;

    private Path file() throws IOException {
        byte[] content = new byte[BYTES];
        Arrays.fill(content, (byte) 7);
        return Files.write(folder.resolve("constants"), content);
    }

    private static void forget(MemorySegment segment) {
        new MappedConstants().forget(new ConstantData.Dense(TensorType.of(DType.U8, segment.byteSize()), segment));
    }

    /** KiB of a mapping that are in memory, by its first address. */
    private static long resident(MemorySegment mapping) throws IOException {
        boolean found = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.startsWith(Long.toHexString(mapping.address()) + "-")) {
                found = true;
            } else if (found && line.startsWith("Rss:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        return -1;
    }

    @Test
    void pagesOfAFileAreForgottenAndReadAgain() throws IOException {
        try (FileChannel channel = FileChannel.open(file());
                Arena arena = Arena.ofShared()) {
            MemorySegment mapping = channel.map(MapMode.READ_ONLY, 0, BYTES, arena);
            MemorySegment copy = arena.allocate(BYTES).copyFrom(mapping);
            long before = resident(mapping);
            forget(mapping.asSlice(100, BYTES - 200));
            if (before >= 0) { // else this is another system
                assertThat(resident(mapping)).isLessThan(before / 2);
            }
            assertThat(mapping.mismatch(copy)).isEqualTo(-1);
        }
    }

    @Test
    void whatWasWrittenToAPrivateMappingStays() throws IOException {
        try (FileChannel channel = FileChannel.open(file(), StandardOpenOption.READ, StandardOpenOption.WRITE);
                Arena arena = Arena.ofShared()) {
            MemorySegment mapping = channel.map(MapMode.PRIVATE, 0, BYTES, arena);
            mapping.fill((byte) 9);
            forget(mapping);
            for (long at = 0; at < BYTES; at += 1000) {
                assertThat(mapping.get(ValueLayout.JAVA_BYTE, at)).isEqualTo((byte) 9);
            }
        }
    }

    @Test
    void memoryThatIsNoFileStays() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(BYTES).fill((byte) 5);
            forget(memory);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, BYTES / 2)).isEqualTo((byte) 5);
        }
    }
}
