package dev.tenon.cpu;

import dev.tenon.core.testkit.House;
import dev.tenon.core.testkit.SourceLimits;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The house is laid out in the order that data flows, and no room reaches back up. */
class ArchitectureTest {
    @Test
    void packagesUseThoseBelow() throws IOException {
        House.of("dev.tenon.cpu")
                .dependsDownwards(
                        "memory",
                        "machine",
                        "function",
                        "loops",
                        "step",
                        "columns",
                        "keys",
                        "elementwise",
                        "movement",
                        "indexing",
                        "reduce",
                        "search",
                        "random",
                        "signal",
                        "norm",
                        "matmul",
                        "packed",
                        "window",
                        "convolution",
                        "pooling",
                        "image",
                        "attention",
                        "recurrent",
                        "quantisation",
                        "plan",
                        "device")
                .needsOnly("dev.tenon.core")
                .hasSmallPackages()
                .hasShortSources(SourceLimits.usual(), Map.of("loops", SourceLimits.loops()));
    }
}
