package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.testkit.ClaimedGraphs;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ClaimedGraphsTest {
    private static final int GRAPHS = 16;
    private static final int ROW_GRAPHS = 10;
    /** Elements from which regions are compiled. */
    private static final long MANY = 32 * 1024;

    @Test
    void claimedCompositesAgreeWithTheInterpreter() {
        Harness.require();
        try (Engine engine = Engine.open(new EmulatorBackend(), 0, EngineOptions.defaults())) {
            Map<String, Integer> steps = ClaimedGraphs.check(engine, GRAPHS);
            System.out.println("steps of graphs with composites: " + steps);
            assertThat(steps).as("composites that ran whole").containsKeys("plain_attention", "residual_norm");
        }
    }

    @Test
    void rowRegionsAgreeWithTheInterpreter() {
        Harness.require();
        try (Engine engine = Engine.open(new EmulatorBackend(), 0, EngineOptions.defaults())) {
            Map<String, Integer> steps = ClaimedGraphs.checkRows(engine, ROW_GRAPHS, MANY);
            System.out.println("steps of graphs of rows: " + steps);
            assertThat(steps).as("row regions that ran whole").containsKey("row_region");
        }
    }
}
