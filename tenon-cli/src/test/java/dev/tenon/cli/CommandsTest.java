package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.cli.model.ModelInputs;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.report.ModelReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.formats.npy.Npy;
import dev.tenon.formats.npy.NpyArray;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the commands do when all is well. */
final class CommandsTest {
    private static final String SQUEEZENET =
            Cli.GOLDEN.resolve("light_squeezenet/light_squeezenet.onnx").toString();

    @TempDir
    private Path folder;

    @Test
    @SuppressWarnings("unchecked") // the golden file is a list of objects
    void embedGivesTheVectorsOfAnotherEngine() throws IOException {
        List<Map<String, Object>> golden =
                (List<Map<String, Object>>) Cli.json(Files.readString(Cli.GOLDEN.resolve("embed-minilm.json")));
        List<String> args = new ArrayList<>(List.of("embed", "--json", "--device", "cpu"));
        golden.forEach(text -> args.add((String) text.get("text")));
        List<Map<String, Object>> found =
                Cli.run(args.toArray(String[]::new)).succeeds().objects();
        assertThat(found).hasSameSizeAs(golden);
        for (int i = 0; i < golden.size(); i++) {
            assertThat(found.get(i))
                    .containsOnlyKeys("text", "vector")
                    .containsEntry("text", golden.get(i).get("text"));
            List<Double> vector = (List<Double>) found.get(i).get("vector");
            List<Double> expected = (List<Double>) golden.get(i).get("vector");
            assertThat(vector).hasSameSizeAs(expected);
            for (int at = 0; at < vector.size(); at++) {
                assertThat(vector.get(at))
                        .as("text %d, element %d", i, at)
                        .isBetween(expected.get(at) - 1e-4, expected.get(at) + 1e-4);
            }
        }
    }

    @Test
    void embedPrintsSimilarities() {
        Cli cli = Cli.run("embed", "--device", "cpu", "A man is eating food.", "Someone is having a meal.")
                .succeeds();
        assertThat(cli.out().lines()).hasSize(3);
        assertThat(cli.out()).contains("A man is eating food.", "1.0000  0.6888");
    }

    private void runGolden(String name, String... more) {
        List<String> args = new ArrayList<>(
                List.of("run", Cli.MINI_LM.toString(), "--device", "cpu", "--output-dir", folder.toString()));
        for (String input : List.of("input_ids", "attention_mask", "token_type_ids")) {
            args.add("--input");
            args.add(input + "=" + Cli.GOLDEN.resolve("minilm/" + name + ".in." + input + ".npy"));
        }
        args.addAll(List.of(more));
        Cli.run(args.toArray(String[]::new)).succeeds();
        NpyArray found = Npy.read(folder.resolve("last_hidden_state.npy"));
        NpyArray expected = Npy.read(Cli.GOLDEN.resolve("minilm/" + name + ".out0.npy"));
        assertThat(found.type()).isEqualTo(expected.type());
        for (long i = 0; i < expected.type().shape().elements(); i++) {
            double wanted = element(expected, i);
            if (!(Math.abs(element(found, i) - wanted) <= 2e-4)) {
                assertThat(element(found, i)).as("element %d", i).isEqualTo(wanted);
            }
        }
    }

    private static double element(NpyArray array, long index) {
        return dev.tenon.core.ir.Elements.getDouble(array.type().dtype(), array.data(), index);
    }

    @ParameterizedTest
    @ValueSource(strings = {"b1s16", "b2s33pad"})
    void runGivesTheOutputsOfAnotherEngine(String name) {
        runGolden(name);
    }

    @Test
    void runAheadOfTimeGivesThemToo() {
        runGolden("b1s16", "--compile", "aot", "--dim", "batch_size=1", "--dim", "sequence_length=16");
    }

    @Test
    void generatedInputsHaveTheSizesOfThoseGiven() throws IOException {
        Map<String, Object> object = Cli.run(
                        "run",
                        Cli.MINI_LM.toString(),
                        "--device",
                        "cpu",
                        "--json",
                        "--input",
                        "attention_mask=" + Cli.GOLDEN.resolve("minilm/b2s33pad.in.attention_mask.npy"))
                .succeeds()
                .objects()
                .getFirst();
        assertThat(object)
                .containsEntry(
                        "inputs",
                        Map.of(
                                "input_ids", "i64[2,33]",
                                "attention_mask", "i64[2,33]",
                                "token_type_ids", "i64[2,33]"));
    }

    @Test
    void runSaysWhatItDid() throws IOException {
        Cli text = Cli.run("run", SQUEEZENET, "--device", "cpu", "--runs", "2").succeeds();
        assertThat(text.out()).contains("input   data_0: f32[1,3,224,224] {", "output  softmaxout_1:", "best of 2");
        Map<String, Object> object = Cli.run("run", SQUEEZENET, "--device", "cpu", "--json")
                .succeeds()
                .objects()
                .getFirst();
        assertThat(object)
                .containsEntry("model", "light_squeezenet.onnx")
                .containsEntry("device", "cpu")
                .containsEntry("inputs", Map.of("data_0", "f32[1,3,224,224]"))
                .containsKeys("outputs", "load_ms", "first_run_ms", "best_run_ms");
    }

    @Test
    void aNewSequenceLengthIsANewPlanAndNothingElse() {
        Graph graph = OnnxModel.load(Cli.MINI_LM).graph();
        try (Engine runtime = Engine.open(Target.cpu());
                CompiledModel model = runtime.compile(graph);
                Session session = model.newSession()) {
            List<Long> weights = new ArrayList<>();
            for (long length : new long[] {8, 16, 8, 24}) {
                session.run(ModelInputs.generate(model.inputs(), Map.of("batch_size", 1L, "sequence_length", length)));
                weights.add(model.report().weightBytes());
            }
            ModelReport report = model.report();
            // beside the weights a plan has its rows of the table of positions: 384 floats a token
            long positions = (8 + 16 + 24) * 384 * Float.BYTES;
            assertThat(weights).allMatch(bytes -> bytes - weights.getFirst() <= positions);
            assertThat(weights.get(2)).isEqualTo(weights.get(1));
            assertThat(report.plans()).hasSize(3);
            assertThat(report.plans().getLast().inputs()).contains("input_ids: i64[1,24]");
            assertThat(runtime.memory().weights()).isEqualTo(report.weightBytes());
        }
    }

    @Test
    void explainListsStepsAndMemory() throws IOException {
        Cli text = Cli.run("explain", "--device", "cpu", "--dim", "sequence_length=8")
                .succeeds();
        assertThat(text.out())
                .contains("on cpu", "input_ids: i64[1,8]", "mat_mul", "plain_attention", "weights ", ", arena ");
        List<Map<String, Object>> objects = Cli.run(
                        "explain", "--device", "cpu", "--json", "--dim", "sequence_length=8")
                .succeeds()
                .objects();
        Map<String, Object> total = objects.getLast();
        assertThat(total).containsEntry("steps", objects.size() - 1.0).containsEntry("device", "cpu");
        assertThat((Double) total.get("arena_bytes")).isPositive().isLessThan((Double) total.get("unplanned_bytes"));
        assertThat((Double) total.get("weight_bytes")).isPositive();
        assertThat(objects.subList(0, objects.size() - 1))
                .allSatisfy(step -> assertThat(step).containsOnlyKeys("op", "node", "types", "tier", "passed_over"));
    }

    @Test
    void explainDumpsTheGraphAfterAPass() {
        Cli cli = Cli.run("explain", SQUEEZENET, "--device", "cpu", "--dump-ir", "after:dce");
        assertThat(cli.code()).isZero();
        assertThat(cli.err()).startsWith("// after dce\n").contains("conv").doesNotContain("= unary");
        Cli apart = Cli.run("explain", SQUEEZENET, "--dump-ir", "after:dce", "--skip-pass", "fuse-epilogues");
        assertThat(apart.err()).contains("= unary");
    }

    @Test
    void doctorFindsEverything() throws IOException {
        Cli text = Cli.run("doctor").succeeds();
        assertThat(text.out()).contains("ok  java", "vector module", "default model", "best device");
        List<Map<String, Object>> checks =
                Cli.run("doctor", "--json").succeeds().objects();
        assertThat(checks).allSatisfy(check -> assertThat(check).containsKeys("check", "ok", "found"));
        assertThat(checks.stream().map(check -> check.get("check")))
                .contains("java", "machine", "vector module", "default model", "cpu:0", "best device")
                .containsSequence("kernel compiler", "kernel compiler 1", "kernel compiler 2", "kernel compiler 3");
    }

    @Test
    void doctorNamesEveryLibraryOfCuda() throws IOException {
        List<String> names = List.of("libcuda", "nvrtc", "cublas", "cublasLt", "cudnn", "nccl", "nvtx");
        List<Map<String, Object>> checks =
                Cli.run("doctor", "--json").succeeds().objects();
        assertThat(checks.stream().map(check -> check.get("check"))).containsAll(names);
        String text = Cli.run("doctor").succeeds().out();
        for (Map<String, Object> check : checks) {
            if (!names.contains(check.get("check"))) {
                continue;
            }
            assertThat((String) check.get("lost")).isNotBlank();
            assertThat((List<?>) check.get("tried")).isNotEmpty();
            assertThat(text).contains("  " + check.get("check") + "  ");
            if (check.get("ok").equals(false)) {
                assertThat(text).contains((String) check.get("fix"), check.get("check") + " was looked for under");
            }
        }
    }

    @Test
    void devicesAreListed() throws IOException {
        assertThat(Cli.run("devices").succeeds().out()).contains("cpu", "best: ");
        assertThat(Cli.run("devices", "--json").succeeds().objects())
                .anySatisfy(device -> assertThat(device)
                        .containsEntry("device", "cpu")
                        .containsKeys("name", "memory_bytes", "detail"));
    }

    @Test
    void benchMeasures() throws IOException {
        String[] small = {
            "bench",
            "model",
            "--device",
            "cpu",
            "--shapes",
            "1x8",
            "--thread-counts",
            "1,2",
            "--runs",
            "1",
            "--seconds",
            "0",
            "--json"
        };
        List<Map<String, Object>> rows = Cli.run(small).succeeds().objects();
        assertThat(rows).hasSize(2).allSatisfy(row -> {
            assertThat(row).containsEntry("bench", "model").containsEntry("device", "cpu");
            assertThat((Double) row.get("min_us")).isPositive().isLessThanOrEqualTo((Double) row.get("median_us"));
            assertThat((Double) row.get("max_us")).isGreaterThanOrEqualTo((Double) row.get("p95_us"));
        });
        Cli table = Cli.run("bench", "model", SQUEEZENET, "--threads", "1", "--runs", "1", "--seconds", "0")
                .succeeds();
        assertThat(table.out().lines()).hasSize(3);
        assertThat(table.out()).contains("threads");
        assertThat(table.out().lines().toList().getLast())
                .matches("JVM start to first result \\d+ ms: .*, .* loading the model, .* planning, .* first run");
        assertThat(rows.getFirst()).containsKey("start");
        assertThat(rows.getLast()).doesNotContainKey("start");
    }

    @Test
    void rowsAreMeasuredOnTheCpuToo() throws IOException {
        for (String op : List.of("SOFTMAX", "LOG_SOFTMAX", "LAYER_NORM", "RMS_NORM")) {
            String[] command = {
                "bench",
                "softmax",
                "--device",
                "cpu",
                "--op",
                op,
                "--shapes",
                "64x48",
                "--runs",
                "1",
                "--seconds",
                "0",
                "--json"
            };
            List<Map<String, Object>> rows = Cli.run(command).succeeds().objects();
            assertThat(rows).singleElement().satisfies(row -> {
                assertThat(row)
                        .containsEntry("device", "cpu")
                        .containsEntry("bench", op.toLowerCase(Locale.ROOT))
                        .containsEntry("form", "rows");
                assertThat((double) row.get("gb_s")).isPositive();
                assertThat((double) row.get("share_of_copy")).isPositive();
            });
        }
    }

    @Test
    void benchesOfAGpuSayWhereTheStartWent() throws IOException {
        Assumptions.assumeTrue(
                Target.devices().stream().anyMatch(device -> device.backend().equals("emulator")));
        String[] command = {
            "bench", "softmax", "--device", "emulator", "--shapes", "3x5", "--runs", "1", "--seconds", "0", "--json"
        };
        List<Map<String, Object>> rows = Cli.run(command).succeeds().objects();
        Map<?, ?> start = (Map<?, ?>) rows.getFirst().get("start");
        double parts = 0;
        for (String part : List.of(
                "jvm_ms", "load_ms", "plan_ms", "driver_ms", "kernel_load_ms", "kernel_compile_ms", "other_ms")) {
            parts += (double) start.get(part);
        }
        assertThat((double) start.get("first_result_ms")).isPositive().isCloseTo(parts, within(1e-6));
        assertThat((double) start.get("kernels_loaded")).isGreaterThanOrEqualTo(2);
        assertThat(rows.subList(1, rows.size()))
                .isNotEmpty()
                .allSatisfy(row -> assertThat(row).doesNotContainKey("start"));
        Cli table = Cli.run(
                        "bench",
                        "model",
                        "../tenon-formats/src/test/resources/cases/softmax_opset13.onnx",
                        "--device",
                        "emulator",
                        "--runs",
                        "1",
                        "--seconds",
                        "0")
                .succeeds();
        assertThat(table.out()).doesNotContain("threads").contains("driver and context", "modules of kernels");
    }

    /** Their classes take longer to load than all else that looking does. */
    @Test
    void lookingLoadsNoVectorClasses() throws IOException, InterruptedException {
        for (String command : List.of("doctor", "devices")) {
            Path log = Files.createTempFile("tenon", ".txt");
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "--add-modules",
                            "jdk.incubator.vector",
                            "--enable-native-access=ALL-UNNAMED",
                            "-Xlog:class+load:file=" + log,
                            "-cp",
                            System.getProperty("java.class.path"),
                            Main.class.getName(),
                            command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            assertThat(process.waitFor()).isZero();
            assertThat(Files.readString(log))
                    .contains("dev.tenon.cpu.device.CpuBackend")
                    .doesNotContain("jdk.incubator.vector.FloatVector");
            Files.delete(log);
        }
    }

    /** Where there is no compiler, requiring one fails as well. */
    @Test
    void anArchitectureThatNoCompilerKnowsIsNotChecked() {
        Cli left = Cli.run("kernels", "check", "--arch", "sm_999", "softmax");
        assertThat(left.succeeds().out()).containsAnyOf("does not know sm_999", "not checked: ");
        assertThat(Cli.run("kernels", "check", "--require", "--arch", "sm_999", "softmax")
                        .code())
                .isEqualTo(1);
    }

    @Test
    void helpAndVersion() {
        for (String command : List.of("", "embed", "classify", "run", "explain", "doctor", "devices", "bench")) {
            String[] args = command.isEmpty() ? new String[] {"--help"} : new String[] {command, "--help"};
            assertThat(Cli.run(args).succeeds().out()).contains("Usage: tenon");
        }
        for (String command : List.of("embed", "kernels", "soak", "bench")) { // all are listed, and each is of its name
            assertThat(Cli.run("--help").succeeds().out()).contains("\n  " + command + " ");
            assertThat(Cli.run(command, "--help").succeeds().out()).contains("Usage: tenon " + command + " ");
        }
        for (String command : List.of("model", "stream", "texts", "requests", "callers", "softmax", "ops")) {
            assertThat(Cli.run("bench", "--help").succeeds().out()).contains("\n  " + command + " ");
            assertThat(Cli.run("bench", command, "--help").succeeds().out())
                    .contains("Usage: tenon bench " + command + " ");
        }
        assertThat(Cli.run("--stacktrace", "bench", "softmax", "--help")
                        .succeeds()
                        .out())
                .contains("Usage: tenon bench softmax");
    }

    @Test
    void everyCommandTellsTheVersion() {
        String version = Cli.run("--version").succeeds().out();
        assertThat(version).startsWith("tenon ");
        for (String command : List.of("tune", "kernels", "bench")) {
            assertThat(Cli.run(command, "-V").succeeds().out()).isEqualTo(version);
        }
        assertThat(Cli.run("kernels", "run", "--version").succeeds().out()).isEqualTo(version);
        assertThat(Cli.run("bench", "ops", "--version").succeeds().out()).isEqualTo(version);
    }
}
