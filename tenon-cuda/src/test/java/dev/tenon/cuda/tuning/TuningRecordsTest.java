package dev.tenon.cuda.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.store.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TuningRecordsTest {
    private static final Choice SEVEN = new Choice("7 1=2 3=-4", 9);

    @TempDir
    private Path folder;

    private TuningRecords records(String library) {
        return new TuningRecords(new Store(folder), library, "a device");
    }

    @Test
    void whatWasFoundIsThereForTheNextProcess() {
        TuningRecords first = records("a library 1");
        assertThat(first.get("conv")).isNull();
        first.put("conv", SEVEN);
        first.save();
        assertThat(records("a library 1").get("conv")).isEqualTo(SEVEN);
        assertThat(records("a library 2").get("conv")).as("another version").isNull();
    }

    @Test
    void whatTwoProcessesFoundIsKept() {
        TuningRecords one = records("a library");
        TuningRecords other = records("a library");
        assertThat(one.get("a")).isNull();
        assertThat(other.get("b")).isNull();
        one.put("a", SEVEN);
        one.save();
        other.put("b", SEVEN);
        other.save();
        assertThat(records("a library").get("a")).isEqualTo(SEVEN);
        assertThat(records("a library").get("b")).isEqualTo(SEVEN);
    }

    @Test
    void aDamagedFileCountsAsNone() throws IOException {
        TuningRecords first = records("a library");
        first.put("conv", SEVEN);
        first.save();
        List<Path> files;
        try (var all = Files.list(folder)) {
            files = all.filter(path -> path.getFileName().toString().startsWith("tuning-"))
                    .toList();
        }
        assertThat(files).hasSize(1);
        for (String damaged : List.of(
                "", "\n", "\n\n", "nonsense", Files.readString(files.getFirst()).replace("\t9", "\tnine"))) {
            Files.writeString(files.getFirst(), damaged);
            assertThat(records("a library").get("conv")).as(damaged).isNull();
        }
    }
}
