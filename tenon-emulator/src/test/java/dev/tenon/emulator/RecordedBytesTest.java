package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.options.Precision;
import dev.tenon.core.options.StreamPriority;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Weights;
import dev.tenon.cuda.check.BackendModel;
import dev.tenon.cuda.testkit.FaultyGpu;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A session keeps recorded graphs of as many shapes as its engine's cap allows. */
class RecordedBytesTest {
    @BeforeAll
    static void device() {
        Harness.require();
    }

    @ParameterizedTest
    @CsvSource({"0,1", "268435456,3"})
    void capDecidesHowManyGraphsAreKept(long bytes, int kept) {
        FaultyGpu gpu = new FaultyGpu(new EmulatorPlatform());
        BackendModel model = new BackendModel();
        EngineOptions options =
                EngineOptions.defaults().withRecordedBytes(bytes).withPriority(StreamPriority.HIGH);
        CompileOptions recorded =
                CompileOptions.defaults().withPrecision(Precision.STRICT).withExecution(Execution.graph());
        try (Engine engine = Engine.open(gpu.backend(), 0, options);
                CompiledModel compiled = engine.compile(model.graph(), Weights.none(), recorded);
                Session session = compiled.newSession()) {
            for (int run = 0; run < 4; run++) {
                for (long rows : new long[] {1, 5, 33}) {
                    model.check(session.run(model.inputs(rows, run)), rows, run);
                }
            }
            assertThat(gpu.held()).contains("ExecutableGraph=" + kept);
        }
        assertThat(gpu.held()).isEmpty();
    }
}
