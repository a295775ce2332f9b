package dev.tenon.formats.onnx;

import static dev.tenon.formats.onnx.Cases.f32;
import static dev.tenon.formats.onnx.Cases.shape;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ImportException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tensors in other files: in the model's folder and nowhere else. */
class ExternalDataTest {
    @TempDir
    private Path folder = Path.of("");

    private Path copied(String name) throws IOException {
        Path models = Files.createDirectories(folder.resolve("models"));
        Files.createDirectories(models.resolve("sub"));
        Files.copy(Cases.file("outside.bin"), folder.resolve("outside.bin"));
        Files.copy(Cases.file("cases/w.bin"), models.resolve("w.bin"));
        Files.createSymbolicLink(models.resolve("link.bin"), folder.resolve("outside.bin"));
        return Files.copy(Cases.file("cases/" + name + ".onnx"), models.resolve(name + ".onnx"));
    }

    @Test
    void besideTheModel() throws IOException {
        OnnxModel model = OnnxModel.load(copied("ext_ok"));
        assertThat(Cases.run(model, f32(shape(2), 1, 2)).toDoubles()).containsExactly(11, 22);
    }

    @Test
    void behindTheModelsOwnLink() throws IOException {
        // as caches of downloaded models keep them: a folder of names that link to a folder of contents
        Path model = copied("ext_ok");
        Path names = Files.createDirectories(folder.resolve("names"));
        Files.createSymbolicLink(names.resolve("model.onnx"), model);
        Files.createSymbolicLink(names.resolve("w.bin"), model.resolveSibling("w.bin"));
        assertThat(OnnxModel.load(names.resolve("model.onnx")).inputs()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ext_dotdot",
                "ext_abs",
                "ext_nested",
                "ext_symlink",
                "ext_eof",
                "ext_short",
                "ext_neg",
                "ext_empty"
            })
    void elsewhereOrTooShort(String name) throws IOException {
        Path model = copied(name);
        assertThatThrownBy(() -> OnnxModel.load(model))
                .isInstanceOf(ImportException.class)
                .hasMessageStartingWith(name + ".onnx: tensor \"w\" in external file \"");
    }

    @Test
    void aModelInMemoryHasNone() throws IOException {
        byte[] bytes = Files.readAllBytes(Cases.file("cases/ext_ok.onnx"));
        assertThatThrownBy(() -> OnnxModel.parse("memory", bytes))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("no folder");
    }
}
