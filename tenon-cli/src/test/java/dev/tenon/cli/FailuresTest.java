package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.npy.Npy;
import dev.tenon.formats.npy.NpyArray;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the commands say when something is wrong: one line that names what was expected, and never a stack trace. */
final class FailuresTest {
    private static final Path SQUEEZENET = Cli.GOLDEN.resolve("light_squeezenet/light_squeezenet.onnx");
    private static final Path CASES = Path.of("../tenon-formats/src/test/resources/cases");

    @TempDir
    private Path folder;

    private String file(String name, byte... bytes) throws IOException {
        return Files.write(folder.resolve(name), bytes).toString();
    }

    private static Cli run(String... more) {
        String[] args = new String[more.length + 3];
        args[0] = "run";
        args[1] = "--device";
        args[2] = "cpu";
        System.arraycopy(more, 0, args, 3, more.length);
        return Cli.run(args);
    }

    @Test
    void truncatedModels() throws IOException {
        byte[] whole = Files.readAllBytes(SQUEEZENET);
        for (int length = 1; length < whole.length; length += whole.length / 23) {
            run(file("model.onnx", Arrays.copyOf(whole, length))).fails("tenon run: model.onnx");
        }
    }

    @Test
    void kernelCasesThatNothingMatches() throws IOException {
        Cli.run("kernels", "run", "no such kernel").isMisused("no case's name", "[no such kernel]");
        Cli.run("kernels", "check", "no such kernel").isMisused("no kernel's path", "[no such kernel]", ".cu");
        Cli.run("kernels", "run", "--every", "0")
                .isMisused("--every", "'0' is not possible; expected a whole number, 1 or more");
        Cli.run("kernels", "run", "--cases", file("empty", new byte[0])).isMisused("empty is empty");
        Cli.run("kernels", "run", "--cases", file("cases", "none such\n".getBytes(StandardCharsets.UTF_8)))
                .isMisused("name no case", "none such");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--mode", "--precision", "--weights"})
    void waysToCompileThatThereAreNot(String option) {
        for (String command : new String[] {"embed", "explain", "run"}) {
            Cli.run(command, SQUEEZENET.toString(), option, "nonsense")
                    .isMisused(
                            option,
                            "nonsense",
                            option.equals("--mode")
                                    ? "expected stream, graph, multi:N or graph:N"
                                    : "expected one of [f");
        }
    }

    @Test
    void outputFolderThatIsAFile() throws IOException {
        run(SQUEEZENET.toString(), "--output-dir", file("taken")).fails("taken is there already, and is not a folder");
    }

    @Test
    void emptyModel() throws IOException {
        run(file("empty.onnx")).fails("tenon run: empty.onnx");
    }

    @Test
    void randomModels() throws IOException {
        for (int seed = 0; seed < 20; seed++) {
            byte[] bytes = new byte[1 + seed * 97];
            new Random(seed).nextBytes(bytes);
            run(file("random.onnx", bytes)).fails("tenon run: random.onnx");
        }
    }

    @Test
    void damagedModels() throws IOException {
        byte[] whole = Files.readAllBytes(CASES.resolve("int_fmod.onnx"));
        int refused = 0;
        for (int at = 0; at < whole.length; at++) {
            for (byte change : new byte[] {(byte) 0xFF, 1}) {
                byte[] damaged = whole.clone();
                damaged[at] ^= change;
                Cli cli = run(file("damaged.onnx", damaged));
                if (cli.code() != 0) {
                    cli.fails();
                    refused++;
                }
            }
        }
        assertThat(refused).isGreaterThan(20);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ext_dotdot", "ext_abs", "ext_neg", "ext_eof", "reshape_bad"})
    void hostileModels(String name) {
        run(CASES.resolve(name + ".onnx").toString()).fails();
    }

    @Test
    void filesThatAreNotThere() {
        run(folder.resolve("missing.onnx").toString()).fails("missing.onnx cannot be read: there is no such file");
        run(folder.toString()).fails(folder + " cannot be read: it is a directory");
        Cli.run("explain", folder.resolve("missing.onnx").toString()).fails("tenon explain: ", "missing.onnx");
        Cli.run("bench", "model", folder.resolve("missing.onnx").toString()).fails("missing.onnx");
        Cli.run("embed", "--model", folder.resolve("missing.onnx").toString(), "text")
                .fails("missing.onnx cannot be read: there is no such file");
        Cli.run("embed", "--model", folder.toString(), "text").fails("the folder " + folder + " has no .onnx file");
    }

    private String npy(String name, TensorType type) throws IOException {
        Path file = folder.resolve(name);
        Npy.write(file, new NpyArray(type, Tensor.zeros(type).segment()));
        return file.toString();
    }

    @Test
    void inputsThatDoNotFit() throws IOException {
        String model = SQUEEZENET.toString();
        run(model, "--input", "data=" + npy("named.npy", TensorType.of(DType.F32, 1, 3, 224, 224)))
                .fails("data]", "expected: [data_0: f32[1,3,224,224]]");
        run(model, "--input", "data_0=" + npy("typed.npy", TensorType.of(DType.F64, 1, 3, 224, 224)))
                .fails("\"data_0\"", "expected f32[1,3,224,224]", "got f64[1,3,224,224]");
        run(model, "--input", "data_0=" + npy("shaped.npy", TensorType.of(DType.F32, 1, 3, 224)))
                .fails("\"data_0\"", "expected f32[1,3,224,224]", "got f32[1,3,224]");
        String minilm = Cli.MINI_LM.toString();
        run(
                        minilm,
                        "--input",
                        "input_ids=" + npy("ids.npy", TensorType.of(DType.I64, 1, 8)),
                        "--input",
                        "attention_mask=" + npy("mask.npy", TensorType.of(DType.I64, 1, 9)))
                .fails("sequence_length");
    }

    @Test
    void dims() {
        String minilm = Cli.MINI_LM.toString();
        run(minilm, "--dim", "length=3").fails("\"length\"", "[batch_size, sequence_length]");
        run(minilm, "--dim", "sequence_length=-3").isMisused("--dim", "'-3'");
        run(minilm, "--dim", "sequence_length=x").isMisused("'x'");
        assertThat(run(minilm, "--dim", "3")
                        .isMisused("Value for option '--dim'")
                        .err())
                .doesNotContain("option option");
        Cli.run("explain", minilm, "--device", "cpu", "--dim", "length=3").fails("\"length\"");
    }

    @Test
    void guessedDimsAreNamed() throws IOException {
        String model = CASES.resolve("unnamed_dim.onnx").toString();
        String[] words = {"reshape", "no size was given for x_0, so 1 was taken", "--dim x_0=N"};
        run(model).fails(words);
        Cli.run("explain", model, "--device", "cpu").fails(words);
        assertThat(run(model, "--dim", "x_0=4").fails("reshape").err()).doesNotContain("was taken");
        assertThat(run(model, "--input", "x=" + npy("four.npy", TensorType.of(DType.F32, 4, 3)))
                        .fails("reshape")
                        .err())
                .doesNotContain("was taken");
        run(model, "--dim", "x_0=2").succeeds();
    }

    @Test
    void devices() {
        String model = SQUEEZENET.toString();
        Cli.run("run", model, "--device", "tpu").isMisused("--device", "'tpu'", "best, or one of cuda, cpu, emulator");
        Cli.run("run", model, "--device", "GPU 1").isMisused("'GPU 1'", "cuda:1");
        Cli.run("kernels", "run", "--device", "cpu").isMisused("'cpu'", "one of cuda, emulator");
        Cli.run("bench", "softmax", "--device", "cuda:x").isMisused("'cuda:x'");
        Cli.run("bench", "allreduce", "--device", "emulator").isMisused("emulator", "expected one of");
        Cli.run("run", model, "--device", "cpu:7").fails("cpu:7");
        Cli.run("embed", "--device", "tpu", "text").isMisused("'tpu'");
        run(model, "--threads", "-1").isMisused("--threads", "'-1'");
        run(model, "--threads", "100000").isMisused("--threads", "'100000'", "0 to 4096");
        Cli.run("bench", "model", model, "--thread-counts", "1,100000").isMisused("'100000'", "1 to 4096");
        Cli.run("bench", "softmax", "--device", "emulator", "--dtype", "i32")
                .isMisused("--dtype", "'i32'", "one of f32, f16, bf16, f64");
        run(model, "--memory-limit", "1000").fails("limit", "1000");
        run(model, "--memory-limit", "-5").isMisused("--memory-limit", "'-5'");
        run(model, "--runs", "0").isMisused("--runs", "'0'");
        run(model, "--dump-ir", "after:nothing").isMisused("after:nothing", "dce");
        run(model, "--dump-ir", "dce").isMisused("'dce'");
        run(model, "--skip-pass", "dce").isMisused("--skip-pass", "'dce'", "fuse-row-regions");
        Cli.run("bench", "model", model, "--shapes", "1x2x3", "--device", "cpu").fails("1x2x3");
        Cli.run("bench", "model", model, "--shapes", "1xb").isMisused("'1xb'", "such as 1x128");
        Cli.run("bench", "model", model, "--thread-counts", "0").isMisused("--thread-counts", "'0'");
        Cli.run("bench", "model", model, "--seconds", "-1").isMisused("--seconds", "'-1'");
        Cli.run("bench", "model", model, "--seconds", "NaN").isMisused("--seconds", "'NaN'");
        Cli.run("bench", "softmax", "--shapes", "8x0").isMisused("'8x0'", "ROWSxCOLS");
        Cli.run("kernels", "check", "--arch", "sm90").isMisused("'sm90'", "sm_80");
        Cli.run("bench", "allreduce", "--device", "cuda", "--sizes", "6").isMisused("'6'", "multiple of 4");
        Cli.run("bench", "allreduce", "--device", "cuda", "--world", "0").isMisused("--world", "'0'");
    }

    @Test
    void brokenArrays() throws IOException {
        byte[] whole = Files.readAllBytes(Path.of(npy("whole.npy", TensorType.of(DType.F32, 1, 3, 224, 224))));
        for (int length : new int[] {0, 5, 9, 11, 40, 128, whole.length - 1}) {
            run(SQUEEZENET.toString(), "--input", "data_0=" + file("broken.npy", Arrays.copyOf(whole, length)))
                    .fails("broken.npy");
        }
        run(
                        SQUEEZENET.toString(),
                        "--input",
                        "data_0=" + file("text.npy", "hello, numbers".getBytes(StandardCharsets.US_ASCII)))
                .fails("text.npy", "npy");
        run(SQUEEZENET.toString(), "--input", "data_0=" + folder.resolve("none.npy"))
                .fails("none.npy");
        run(SQUEEZENET.toString(), "--input", "data_0=" + folder).fails("it is a directory");
    }

    @Test
    void tokenizers() throws IOException {
        String model = Cli.MINI_LM.toString();
        String[] broken = {
            file("empty.json"),
            file("text.json", "not json".getBytes(StandardCharsets.US_ASCII)),
            file("half.json", "{\"model\": {\"type\": \"WordPiece\", \"vocab\": {".getBytes(StandardCharsets.US_ASCII)),
            file("other.json", "{\"a\": 1}".getBytes(StandardCharsets.US_ASCII)),
            folder.resolve("none.json").toString(),
            folder.toString()
        };
        for (String tokenizer : broken) {
            Cli.run("embed", "--device", "cpu", "--model", model, "--tokenizer", tokenizer, "text")
                    .fails(Path.of(tokenizer).getFileName().toString());
        }
        Path alone = Files.copy(SQUEEZENET, folder.resolve("alone.onnx"));
        Cli.run("embed", "--model", alone.toString(), "text").fails("no tokenizer beside", "tokenizer.json");
        Path words = Cli.MODELS.resolve("all-minilm-l6-v2-tokenizer.json");
        Cli.run("embed", "--device", "cpu", "--model", alone.toString(), "--tokenizer", words.toString(), "text")
                .fails("input_ids", "data_0");
        Cli.run("embed", "--device", "cpu", "--max-tokens", "2", "text").isMisused("--max-tokens", "3 to 16777216");
    }

    @Test
    void outputsThatCannotBeWritten() throws IOException {
        run(SQUEEZENET.toString(), "--output-dir", file("taken")).fails("taken");
        Cli.run("allreduce", "--svg", folder.toString()).fails(folder.toString());
        Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full), "no device here is always full");
        Cli.run("allreduce", "--svg", full.toString()).fails("/dev/full cannot be written: ");
        Cli.run("explain", SQUEEZENET.toString(), "--device", "cpu", "--html", full.toString())
                .fails("/dev/full cannot be written: ");
    }

    /** What a command says on standard error, and its exit code, when standard output fails so. */
    private static String failing(String fault, String... args) {
        OutputStream out = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException(fault);
            }
        };
        StringWriter err = new StringWriter();
        int code = Main.execute(out, new PrintWriter(err, true), args);
        return code + " " + err;
    }

    @Test
    void standardOutputThatCannotBeWritten() {
        for (String[] args : new String[][] {
            {"explain", SQUEEZENET.toString(), "--device", "cpu"},
            {"run", SQUEEZENET.toString(), "--device", "cpu"},
            {"allreduce", "--json"}
        }) {
            assertThat(failing("No space left on device", args).strip())
                    .isEqualTo("1 tenon: the output cannot be written: No space left on device");
            assertThat(failing("Broken pipe", args)).as("head has its lines").isEqualTo("0 ");
        }
        assertThat(failing("No space left on device", "fly")).startsWith("2 ").doesNotContain("No space");
    }

    @Test
    void wrongUsage() {
        Cli.run().isMisused("say what to do");
        Cli.run("fly").isMisused("fly");
        Cli.run("run").isMisused("MODEL");
        Cli.run("run", "a.onnx", "--nonsense").isMisused("--nonsense");
        Cli.run("run", "a.onnx", "--runs", "many").isMisused("many");
        Cli.run("run", "a.onnx", "--compile", "later").isMisused("later");
        Cli.run("run", "a.onnx", "--input", "x").isMisused("x");
        Cli.run("bench").isMisused();
        Cli.run("bench", "nothing").isMisused("nothing");
        Cli.run("bench", "model", "--thread-counts", "x").isMisused("x");
    }

    @Test
    void stackTracesOnRequest() {
        Cli cli = Cli.run("run", folder.resolve("missing.onnx").toString(), "--stacktrace");
        assertThat(cli.code()).isEqualTo(1);
        assertThat(cli.err()).contains("ImportException", "\tat ");
        assertThat(cli.err().lines().toList().getLast()).startsWith("tenon run: ");
    }
}
