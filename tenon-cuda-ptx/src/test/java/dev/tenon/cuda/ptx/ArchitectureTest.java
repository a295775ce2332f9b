package dev.tenon.cuda.ptx;

import dev.tenon.core.testkit.House;
import dev.tenon.core.testkit.SourceLimits;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Kernels built ahead are files that the backend finds: they need nothing but it. */
class ArchitectureTest {
    @Test
    void packagesUseThoseBelow() throws IOException {
        House.of("dev.tenon.cuda.ptx")
                .dependsDownwards("")
                .needsOnly("dev.tenon.core", "dev.tenon.cuda", "dev.tenon.nativelib")
                .hasSmallPackages()
                .hasShortSources(SourceLimits.usual());
    }
}
