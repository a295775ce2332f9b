package dev.tenon.cli.profile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.report.StepCost;
import dev.tenon.core.report.StepReport;
import dev.tenon.cuda.store.Store;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What steps are held against. */
class CeilingsTest {
    @TempDir
    Path folder;

    private static final Ceilings BEST = new Ceilings(100, 50, 200, 400, 3);

    private static StepKind kind(String types, long bytes, long operations) {
        return new StepKind(
                new StepReport("op", "node", types, "tier", List.of(), new StepCost(bytes, operations)), 1, 1, 1);
    }

    @Test
    void memoryOrArithmeticBindsWhicheverIsNearer() {
        assertThat(BEST.share(kind("f32[1] -> f32[1]", 50_000, 0), true)).isEqualTo(0.5);
        assertThat(BEST.share(kind("f32[1] -> f32[1]", 50_000, 25_000), false)).isEqualTo(0.5);
        assertThat(BEST.share(kind("f32[1] -> f32[1]", 10_000, 40_000), false)).isEqualTo(0.8);
    }

    @Test
    void productsAreHeldAgainstThoseOfTheirType() {
        assertThat(BEST.share(kind("f16[1] -> f16[1]", 0, 100_000), false)).isEqualTo(0.25);
        assertThat(BEST.share(kind("f32[1] -> f32[1]", 0, 100_000), true)).isEqualTo(0.5);
        assertThat(BEST.share(kind("f32[1] -> f32[1]", 0, 100_000), false)).isEqualTo(2);
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
