package dev.tenon.cli.model;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Output;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.cli.page.ExplainPage;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.core.report.ModelReport;
import dev.tenon.core.report.PlanReport;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.store.Store;
import dev.tenon.cuda.timing.Ceilings;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The plan, in words. */
@Command(
        name = "explain",
        mixinStandardHelpOptions = true,
        description = "The compiled plan: steps, tiers taken and passed over, memory.")
public final class ExplainCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(paramLabel = "MODEL", arity = "0..1", description = "An .onnx file; all-MiniLM-L6-v2 by default.")
    @Nullable
    Path model;

    @Mixin
    DimOptions dims = new DimOptions();

    @Mixin
    PassOptions passes = new PassOptions();

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Write a self-contained page: the graph, the ladder of each step, the arena over time.")
    @Nullable
    Path html;

    @Option(names = "--json", description = "One object a step, then one for the plan.")
    boolean json;

    @Mixin
    CompileSettings settings = new CompileSettings();

    @Mixin
    DeviceOptions device = new DeviceOptions();

    /** What the device reaches at best, where that was measured. */
    private Optional<Ceilings> best = Optional.empty();

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        OnnxModel onnx = OnnxModel.load(model != null ? model : DefaultModel.path());
        CompileOptions options = settings.apply(CompileOptions.defaults())
                .withCompiler(passes.compiler(spec.commandLine().getErr()));
        try (Engine runtime = Engine.open(device.target(), device.options());
                CompiledModel compiled = runtime.compile(onnx.graph(), options)) {
            try (Session session = compiled.newSession()) {
                // one run, so that plans that depend on values of the run are there as well
                Map<String, Tensor> all = ModelInputs.generate(compiled.inputs(), dims.sizes);
                ModelInputs.run(session, compiled.inputs(), all, Map.of(), dims.sizes);
            }
            ModelReport report = compiled.report();
            best = Ceilings.of(report.device(), Store.standard());
            Path page = html;
            if (page != null) {
                Output.write(page, ExplainPage.of(report));
                out.println("wrote " + page);
            } else {
                report.plans().forEach(plan -> print(out, report, plan));
            }
        }
        return 0;
    }

    private void print(PrintWriter out, ModelReport report, PlanReport plan) {
        if (json) {
            plan.steps().forEach(step -> Json.print(out, object(step)));
            Map<String, Object> total = new LinkedHashMap<>();
            total.put("graph", report.graph());
            total.put("device", report.target());
            total.put("inputs", plan.inputs());
            total.put("steps", plan.steps().size());
            total.put("weight_bytes", report.weightBytes());
            total.put("arena_bytes", plan.arenaBytes());
            total.put("unplanned_bytes", plan.unplannedBytes());
            total.put("workspace_bytes", plan.workspaceBytes());
            Json.print(out, total);
            return;
        }
        out.println(report.graph() + " on " + report.target() + " ("
                + report.device().name() + ", " + report.device().detail() + ")");
        out.println("inputs  " + String.join(", ", plan.inputs()));
        List<StepReport> steps = plan.steps();
        table(steps).print(out);
        printPassedOver(out, steps);
        out.println("weights " + Units.bytes(report.weightBytes()) + " prepared, arena "
                + Units.bytes(plan.arenaBytes()) + " (" + Units.bytes(plan.unplannedBytes())
                + " if nothing shared memory), workspace " + Units.bytes(plan.workspaceBytes()));
        best.ifPresent(ceilings -> out.println("by what tenon calibrate measured, a run moves and computes for "
                + Units.duration(steps.stream()
                        .mapToDouble(step -> leastMicros(ceilings, step))
                        .sum()) + " at least, and starts steps for "
                + Units.duration(steps.size() * ceilings.stepMicros())));
        if (plan.continues()) {
            out.println("the graph goes on after this plan: a shape or branch depends on values that it brings forth");
        }
    }

    /** With what each step takes at least, where the device was measured. */
    private Table table(List<StepReport> steps) {
        List<String> header = new ArrayList<>(List.of("#", "op", "tier", "types", "node"));
        best.ifPresent(_ -> header.add(2, "at least"));
        Table table = new Table(header.toArray(new String[0]));
        for (int i = 0; i < steps.size(); i++) {
            StepReport step = steps.get(i);
            List<Object> row = new ArrayList<>(List.of(i + 1, step.op(), step.tier(), step.types(), step.node()));
            best.ifPresent(ceilings -> row.add(2, Units.duration(leastMicros(ceilings, step))));
            table.row(row.toArray());
        }
        return table;
    }

    private double leastMicros(Ceilings ceilings, StepReport step) {
        return ceilings.leastMicros(step, settings.precision == Precision.FAST);
    }

    /** Each ladder once, with how many steps climbed it; {@code --json} has them step by step. */
    private static void printPassedOver(PrintWriter out, List<StepReport> steps) {
        Map<String, List<StepReport>> alike = new LinkedHashMap<>();
        steps.stream()
                .filter(step -> !step.passedOver().isEmpty())
                .forEach(step -> alike.computeIfAbsent(
                                step.op() + " " + step.tier() + step.passedOver(), key -> new ArrayList<>())
                        .add(step));
        alike.values().forEach(group -> {
            StepReport first = group.getFirst();
            String others = group.size() == 1 ? "" : " and " + (group.size() - 1) + " more";
            out.println(
                    first.op() + " \"" + first.node() + "\"" + others + " took \"" + first.tier() + "\", passed over:");
            first.passedOver().forEach(reason -> out.println("    " + reason));
        });
    }

    private Map<String, Object> object(StepReport step) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("op", step.op());
        object.put("node", step.node());
        object.put("types", step.types());
        object.put("tier", step.tier());
        object.put("passed_over", step.passedOver());
        best.ifPresent(ceilings -> object.put("least_us", leastMicros(ceilings, step)));
        return object;
    }
}
