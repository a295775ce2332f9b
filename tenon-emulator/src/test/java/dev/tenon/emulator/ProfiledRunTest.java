package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.report.RunProfile;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.ProfiledRun;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.testkit.FaultModel;
import dev.tenon.cuda.testkit.FaultyGpu;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a profiled run says, and that it changes nothing. */
class ProfiledRunTest {
    @BeforeAll
    static void device() {
        Harness.require();
    }

    @ParameterizedTest
    @ValueSource(strings = {"dense", "hosted", "staged"})
    void everyStepIsToldInItsOrderAndNothingIsHeld(String name) {
        FaultModel model = FaultModel.named(name);
        FaultyGpu gpu = new FaultyGpu(new EmulatorPlatform());
        CompileOptions recorded = CompileOptions.defaults().withExecution(Execution.graph());
        try (Engine engine = Engine.open(gpu.backend(), 0, EngineOptions.defaults());
                CompiledModel compiled = engine.compile(model.graph(), Weights.none(), recorded);
                Session session = compiled.newSession()) {
            for (int run = 0; run < 3; run++) {
                model.check(session.run(model.inputs(3)), 3);
            }
            ProfiledRun run = session.runProfiled(model.inputs(3));
            model.check(run.outputs(), 3);
            RunProfile profile = run.profile();
            assertThat(profile.steps().stream().map(RunProfile.Step::report))
                    .as("those of all plans, as they run")
                    .containsExactlyElementsOf(compiled.report().plans().stream()
                            .flatMap(plan -> plan.steps().stream())
                            .toList());
            List<RunProfile.Span> spans =
                    profile.steps().stream().map(RunProfile.Step::span).toList();
            for (int i = 0; i < spans.size(); i++) {
                assertThat(spans.get(i).track()).isEqualTo("gpu");
                assertThat(spans.get(i).start())
                        .isGreaterThanOrEqualTo(i == 0 ? 0 : spans.get(i - 1).end() - 0.01);
            }
            assertThat(profile.stepMicros()).isLessThanOrEqualTo(profile.micros());
            assertThat(profile.spans()).extracting(RunProfile.Span::name).contains("inputs", "outputs", "enqueue");
            model.check(session.run(model.inputs(3)), 3);
        }
        assertThat(gpu.held()).isEmpty();
    }
}
