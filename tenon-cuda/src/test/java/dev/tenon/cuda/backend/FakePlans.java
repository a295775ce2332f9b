package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Device;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.testkit.plan.Planned;
import dev.tenon.cuda.lower.GpuLowering;
import dev.tenon.cuda.port.FakeGpu;
import java.util.List;

/** What is planned for a device of sm_90 that is not there. */
final class FakePlans {
    private FakePlans() {}

    static List<StepReport> steps(Graph graph, String... skip) {
        Device device = GpuDevice.open(FakeGpu.platform(FakeGpu.compiler(source -> {})), 0, EngineOptions.defaults());
        return device.compile(plan(graph, skip), device.newConstants(), CompileOptions.defaults())
                .steps();
    }

    static Plan plan(Graph graph, String... skip) {
        return Planned.plan(graph, node -> GpuLowering.claims(node, Precision.FAST), skip);
    }
}
