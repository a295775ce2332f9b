package dev.tenon.core.architecture;

import dev.tenon.core.testkit.House;
import dev.tenon.core.testkit.SourceLimits;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The house is laid out in the order that data flows, and no room reaches back up. */
class ArchitectureTest {
    @Test
    void packagesUseThoseBelow() throws IOException {
        House.of("dev.tenon.core")
                .dependsDownwards(
                        "error",
                        "lazy",
                        "ir",
                        "ir.fn",
                        "ir.rule",
                        "ir.reference",
                        "ir.op.elementwise",
                        "ir.op.movement",
                        "ir.op.filling",
                        "ir.op.indexing",
                        "ir.op.reduction",
                        "ir.op.searching",
                        "ir.op.contraction",
                        "ir.op.normalisation",
                        "ir.op.convolution",
                        "ir.op.pooling",
                        "ir.op.image",
                        "ir.op.attention",
                        "ir.op.state",
                        "ir.op.random",
                        "ir.op.quantisation",
                        "ir.op.signal",
                        "ir.op.control",
                        "ir.op.custom",
                        "tensor",
                        "build",
                        "compiler.rewrite",
                        "compiler.rule",
                        "compiler.fusion",
                        "compiler.memory",
                        "compiler",
                        "report",
                        "options",
                        "backend",
                        "runtime")
                .needsOnly()
                .hasSmallPackages()
                .hasShortSources(SourceLimits.usual());
    }
}
