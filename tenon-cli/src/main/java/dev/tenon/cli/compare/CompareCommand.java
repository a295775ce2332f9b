package dev.tenon.cli.compare;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.cli.model.CompileSettings;
import dev.tenon.cli.model.DimOptions;
import dev.tenon.cli.model.ModelInputs;
import dev.tenon.core.error.Text;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Whether a device computes what a model says. */
@Command(
        name = "compare",
        mixinStandardHelpOptions = true,
        description = {
            "A model on a device against its definition in float64, node by node: each node is computed once more from the operands that the device had.",
            "Exit code 1 where a node differs by more than rounding explains; the first one is named."
        })
public final class CompareCommand implements Callable<Integer> {
    private static final int SHOWN = 10;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(paramLabel = "MODEL", description = "An .onnx file.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    Path model;

    @Mixin
    DimOptions dims = new DimOptions();

    @Option(names = "--json", description = "One object a node's result, then one for the model.")
    boolean json;

    @Mixin
    CompileSettings settings = new CompileSettings();

    @Mixin
    DeviceOptions device = new DeviceOptions();

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        OnnxModel onnx = OnnxModel.load(model);
        CompileOptions options = settings.apply(CompileOptions.defaults());
        List<ModelComparison.Compared> nodes;
        Map<String, Difference> outputs;
        Target target;
        try (Progress progress = new Progress(spec.commandLine().getErr());
                Engine engine = Engine.open(device.target(), device.options())) {
            target = engine.target();
            ModelComparison comparison = new ModelComparison(onnx.graph(), options, !target.equals(Target.cpu()));
            Map<String, Tensor> inputs = ModelInputs.generate(onnx.graph().inputs(), dims.sizes);
            int all = onnx.graph().nodes().size();
            nodes = comparison.nodes(
                    engine, options, inputs, done -> progress.say("node " + done + " of " + all + " …"));
            progress.say("the whole model in float64 …");
            outputs = comparison.outputs(engine, options, inputs);
        }
        List<ModelComparison.Compared> beyond =
                nodes.stream().filter(one -> !one.difference().isSmall()).toList();
        if (json) {
            nodes.forEach(one -> Json.print(out, object(one)));
            Json.print(out, total(target, nodes, beyond, outputs));
        } else {
            print(out, nodes);
            outputs.forEach((name, difference) -> out.println(
                    "output " + Text.name(name) + ": " + share(difference.largest()) + " of its largest element"));
            out.println(
                    Text.name(String.valueOf(model.getFileName())) + " on " + target + ": " + verdict(nodes, beyond));
        }
        return beyond.isEmpty() ? 0 : 1;
    }

    private static String verdict(List<ModelComparison.Compared> nodes, List<ModelComparison.Compared> beyond) {
        if (beyond.isEmpty()) {
            return "rounding explains all of " + Units.counted(nodes.size(), "result");
        }
        ModelComparison.Compared first = beyond.getFirst();
        return beyond.size() + " of " + Units.counted(nodes.size(), "result")
                + " differ by more than rounding explains; the first is \""
                + Text.name(first.node().name()) + "\" ("
                + first.node().op().mnemonic() + "), element "
                + first.difference().element();
    }

    private static void print(PrintWriter out, List<ModelComparison.Compared> nodes) {
        Table table = new Table("node", "op", "type", "difference", "allowed", "");
        nodes.stream()
                .sorted(Comparator.comparingDouble((ModelComparison.Compared one) -> -excess(one.difference())))
                .limit(SHOWN)
                .forEach(one -> table.row(
                        one.node().name(),
                        one.node().op().mnemonic(),
                        one.node().outputs().get(one.output()).type(),
                        share(one.difference().largest()),
                        share(one.difference().allowed()),
                        one.difference().isSmall() ? "" : "differs"));
        table.print(out);
    }

    private static double excess(Difference difference) {
        return difference.allowed() == 0 ? difference.largest() : difference.largest() / difference.allowed();
    }

    private static String share(double share) {
        return String.format(Locale.ROOT, "%.1e", share);
    }

    private static Map<String, Object> object(ModelComparison.Compared one) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("node", one.node().name());
        object.put("op", one.node().op().mnemonic());
        object.put("output", one.output());
        object.put("type", one.node().outputs().get(one.output()).type());
        object.put("difference", finite(one.difference().largest()));
        object.put("allowed", one.difference().allowed());
        object.put("element", one.difference().element());
        object.put("fits", one.difference().isSmall());
        return object;
    }

    /** JSON has no infinity. */
    private static Object finite(double number) {
        return Double.isFinite(number) ? number : String.valueOf(number);
    }

    private Map<String, Object> total(
            Target target,
            List<ModelComparison.Compared> nodes,
            List<ModelComparison.Compared> beyond,
            Map<String, Difference> outputs) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("model", String.valueOf(model.getFileName()));
        object.put("device", target.toString());
        object.put("results", nodes.size());
        object.put("beyond_rounding", beyond.size());
        object.put("first", beyond.isEmpty() ? null : beyond.getFirst().node().name());
        Map<String, Object> ends = new LinkedHashMap<>();
        outputs.forEach((name, difference) -> ends.put(name, finite(difference.largest())));
        object.put("outputs", ends);
        return object;
    }
}
