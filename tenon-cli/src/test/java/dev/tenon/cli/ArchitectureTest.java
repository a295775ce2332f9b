package dev.tenon.cli;

import dev.tenon.core.testkit.House;
import dev.tenon.core.testkit.SourceLimits;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The house is laid out in the order that data flows, and no room reaches back up. */
class ArchitectureTest {
    @Test
    void packagesUseThoseBelow() throws IOException {
        House.of("dev.tenon.cli")
                .dependsDownwards(
                        "console", "page", "model", "soak", "profile", "compare", "bench", "kernels", "machine",
                        "ranks", "vision", "")
                .hasSmallPackages()
                .hasShortSources(SourceLimits.usual());
    }
}
