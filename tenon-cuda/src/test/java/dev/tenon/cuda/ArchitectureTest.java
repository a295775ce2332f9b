package dev.tenon.cuda;

import dev.tenon.core.testkit.House;
import dev.tenon.core.testkit.SourceLimits;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The house is laid out in the order that data flows, and no room reaches back up. */
class ArchitectureTest {
    @Test
    void packagesUseThoseBelow() throws IOException {
        House.of("dev.tenon.cuda")
                .dependsDownwards(
                        "port",
                        "store",
                        "timing",
                        "schedule",
                        "driver",
                        "kernel.file",
                        "kernel",
                        "compile",
                        "tuning",
                        "blas",
                        "dnn",
                        "lower.step",
                        "lower.movement",
                        "lower.elementwise",
                        "lower.sorting",
                        "lower.indexing",
                        "lower.searching",
                        "lower.reduce",
                        "lower.norm",
                        "lower.matmul",
                        "lower.attention",
                        "lower.window",
                        "lower.convolution",
                        "lower.signal",
                        "lower.quantisation",
                        "lower.random",
                        "lower.state",
                        "lower.custom",
                        "lower.resident",
                        "lower",
                        "platform",
                        "backend",
                        "collective")
                .needsOnly("dev.tenon.core", "dev.tenon.collective", "dev.tenon.nativelib")
                .hasSmallPackages()
                .hasShortSources(SourceLimits.usual());
    }
}
