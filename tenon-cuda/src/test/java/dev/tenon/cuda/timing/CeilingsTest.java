package dev.tenon.cuda.timing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.report.StepCost;
import dev.tenon.core.report.StepReport;
import dev.tenon.cuda.store.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What steps are held against. */
class CeilingsTest {
    @TempDir
    Path folder;

    private static final Ceilings BEST = new Ceilings(100, 50, 200, 400, 2, 3);

    private static StepReport step(String types, long bytes, long operations) {
        return new StepReport("op", "node", types, "tier", List.of(), new StepCost(bytes, operations));
    }

    private static double share(String types, double gigabytes, double gigaflops, boolean fast) {
        return BEST.share(step(types, 0, 0), gigabytes, gigaflops, fast);
    }

    @Test
    void memoryOrArithmeticBindsWhicheverIsNearer() {
        assertThat(share("f32[1] -> f32[1]", 50, 0, true)).isEqualTo(0.5);
        assertThat(share("f32[1] -> f32[1]", 50, 25, false)).isEqualTo(0.5);
        assertThat(share("f32[1] -> f32[1]", 10, 40, false)).isEqualTo(0.8);
    }

    @Test
    void productsAreHeldAgainstThoseOfTheirType() {
        assertThat(share("f16[1] -> f16[1]", 0, 100, false)).isEqualTo(0.25);
        assertThat(share("f32[1] -> f32[1]", 0, 100, true)).isEqualTo(0.5);
        assertThat(share("f32[1] -> f32[1]", 0, 100, false)).isEqualTo(2);
    }

    @Test
    void aStepTakesAtLeastWhatItMovesOrComputes() {
        assertThat(BEST.leastMicros(step("f32[1] -> f32[1]", 300_000, 0), true)).isEqualTo(3);
        assertThat(BEST.leastMicros(step("f32[1] -> f32[1]", 300_000, 2_000_000), true))
                .isEqualTo(10);
        assertThat(BEST.leastMicros(step("f16[1] -> f16[1]", 300_000, 2_000_000), true))
                .isEqualTo(5);
    }

    @Test
    void aDamagedFileCountsAsNone() throws IOException {
        Store store = new Store(folder);
        DeviceInfo device = new DeviceInfo("cuda", 0, "card", "driver 1", 0);
        assertThat(BEST.keep(device, store)).isTrue();
        Path file;
        try (var files = Files.list(folder)) {
            file = files.filter(path -> path.getFileName().toString().startsWith("ceilings-"))
                    .findFirst()
                    .orElseThrow();
        }
        String whole = Files.readString(file);
        for (String damaged :
                List.of("", "x", whole + "\n1", whole.replace("100.0", "NaN"), whole.replace("50.0", "0"))) {
            Files.writeString(file, damaged);
            assertThat(Ceilings.of(device, store)).as(damaged).isEmpty();
        }
    }

    @Test
    void keptForOneDeviceAlone() {
        Store store = new Store(folder);
        DeviceInfo device = new DeviceInfo("cuda", 0, "card", "driver 1", 0);
        assertThat(Ceilings.of(device, store)).isEmpty();
        assertThat(BEST.keep(device, store)).isTrue();
        assertThat(Ceilings.of(device, store)).contains(BEST);
        assertThat(Ceilings.of(new DeviceInfo("cuda", 0, "card", "driver 2", 0), store))
                .isEmpty();
    }
}
