package dev.tenon.formats.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Node tests of the ONNX project, by the interpreter, for operators whose references are nobody else's to check. */
class OfficialCasesTest {
    /** The official runner's. */
    private static final double RELATIVE = 1e-3;

    private static final double ABSOLUTE = 1e-6;

    static List<String> cases() throws IOException {
        try (Stream<Path> folders = Files.list(Cases.file("onnx"))) {
            return folders.map(folder -> folder.getFileName().toString())
                    .sorted()
                    .toList();
        }
    }

    @Test
    void thereAreCases() throws IOException {
        assertThat(cases()).hasSizeGreaterThan(50);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void isAsTheProjectSays(String name) {
        Path folder = Cases.file("onnx/" + name);
        OnnxModel model = OnnxModel.load(folder.resolve("model.onnx"));
        List<NdArray> inputs = arrays(folder, "input_");
        Map<String, NdArray> given = new LinkedHashMap<>();
        for (int i = 0; i < inputs.size(); i++) {
            given.put(model.inputs().get(i).name(), inputs.get(i));
        }
        List<NdArray> results =
                List.copyOf(Interpreter.run(model.graph(), given).values());
        List<NdArray> expected = arrays(folder, "output_");
        assertThat(results).hasSameSizeAs(expected);
        for (int i = 0; i < expected.size(); i++) {
            check(name + ", output " + i, results.get(i), expected.get(i));
        }
    }

    private static List<NdArray> arrays(Path folder, String prefix) {
        List<NdArray> arrays = new ArrayList<>();
        while (Files.exists(folder.resolve(prefix + arrays.size() + ".pb"))) {
            arrays.add(NdArray.of(OnnxTensor.load(folder.resolve(prefix + arrays.size() + ".pb"))
                    .data()));
        }
        return arrays;
    }

    private static void check(String what, NdArray has, NdArray wanted) {
        assertThat(has.type()).as(what).isEqualTo(wanted.type());
        for (int i = 0; i < wanted.size(); i++) {
            double expected = wanted.get(i);
            boolean near = has.get(i) == expected
                    || (Double.isNaN(has.get(i)) && Double.isNaN(expected))
                    || Math.abs(has.get(i) - expected) <= ABSOLUTE + RELATIVE * Math.abs(expected);
            assertThat(near)
                    .as(what + "[" + i + "] is " + has.get(i) + "; expected " + expected)
                    .isTrue();
        }
    }
}
