package dev.tenon.cli.cases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.report.PlanReport;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import dev.tenon.formats.onnx.OnnxTensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * Which node tests of the ONNX project have a step on the host when they run on a GPU, here the emulator, and why:
 * docs/onnx-host-steps.md has the list. {@code -Dtenon.onnx.cases=FOLDER} runs all of a folder of them and compares
 * with the list; else those of this repository run, and every one with a host step must be on it.
 */
class OfficialHostStepsTest {
    private static final Path OURS = Path.of("../tenon-formats/src/test/resources/onnx");
    private static final Path LIST = Path.of("../docs/onnx-host-steps.md");
    private static final int MOST = 20;

    private final Map<String, Set<String>> byReason = new TreeMap<>();
    private int ran;
    private int refused;

    @Test
    void listedCasesAndNoOthersHaveAHostStep() throws IOException {
        Assumptions.assumeTrue(
                Target.devices().stream().anyMatch(device -> device.backend().equals("emulator")),
                () -> "emulator skipped: " + Target.unavailable());
        String asked = System.getProperty("tenon.onnx.cases");
        List<Path> folders;
        try (Stream<Path> all = Files.list(asked == null ? OURS : Path.of(asked))) {
            folders = all.filter(folder -> Files.exists(folder.resolve("model.onnx")))
                    .sorted()
                    .toList();
        }
        try (Engine engine = Engine.open(Target.parse("emulator"))) {
            folders.forEach(folder -> run(engine, folder));
        }
        StringBuilder text = new StringBuilder();
        byReason.forEach((reason, cases) -> text.append("| ")
                .append(reason)
                .append(" | ")
                .append(cases.size())
                .append(" | ")
                .append(String.join(" ", cases))
                .append(" |\n"));
        System.out.println(
                ran + " node tests on the emulator, " + refused + " not imported or not run; host steps:\n" + text);
        assertThat(ran).isGreaterThan(50);
        Set<String> found = new TreeSet<>();
        byReason.values().forEach(found::addAll);
        assertThat(found).hasSizeLessThan(MOST);
        Set<String> listed = listed();
        assertThat(listed).containsAll(found);
        if (asked != null) {
            assertThat(found).isEqualTo(listed);
        }
    }

    private static Set<String> listed() throws IOException {
        Set<String> listed = new TreeSet<>();
        for (String line : Files.readAllLines(LIST)) {
            if (line.startsWith("| `")) {
                String cases = line.split("\\|")[3];
                Stream.of(cases.strip().split(" "))
                        .map(name -> name.replace("`", ""))
                        .forEach(listed::add);
            }
        }
        return listed;
    }

    private void run(Engine engine, Path folder) {
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        try {
            OnnxModel model = OnnxModel.load(folder.resolve("model.onnx"));
            for (int i = 0; Files.exists(input(folder, i)); i++) {
                ConstantData data = OnnxTensor.load(input(folder, i)).data();
                Tensor tensor = Tensor.zeros(data.type());
                NdArray.of(data).write(tensor.segment());
                inputs.put(model.inputs().get(i).name(), tensor);
            }
            try (CompiledModel compiled = engine.compile(model.graph());
                    Session session = compiled.newSession()) {
                session.run(inputs);
                ran++;
                compiled.report().plans().stream()
                        .map(PlanReport::steps)
                        .flatMap(List::stream)
                        .filter(step -> step.tier().startsWith("host"))
                        .forEach(step -> add(step, folder));
            }
        } catch (TenonException _) {
            refused++;
        }
    }

    private static Path input(Path folder, int number) {
        Path flat = folder.resolve("input_" + number + ".pb");
        return Files.exists(flat) ? flat : folder.resolve("test_data_set_0").resolve("input_" + number + ".pb");
    }

    private void add(StepReport step, Path folder) {
        List<String> reasons = new ArrayList<>(step.passedOver());
        String reason = step.op() + ": " + (reasons.isEmpty() ? "" : reasons.getFirst());
        byReason.computeIfAbsent(reason, _ -> new TreeSet<>())
                .add(folder.getFileName().toString());
    }
}
