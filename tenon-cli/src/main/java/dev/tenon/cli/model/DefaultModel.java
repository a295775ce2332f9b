package dev.tenon.cli.model;

import dev.tenon.core.error.ImportException;
import java.nio.file.Files;
import java.nio.file.Path;

/** all-MiniLM-L6-v2, which the build takes out of a Maven artifact; the launcher says where it lies. */
public final class DefaultModel {
    public static final String PROPERTY = "tenon.models";

    private DefaultModel() {}

    /** @throws ImportException when the build has not put it there */
    public static Path path() {
        Path folder = Path.of(System.getProperty(PROPERTY, "models"));
        Path model = folder.resolve("all-minilm-l6-v2.onnx");
        if (!Files.isRegularFile(model)) {
            throw new ImportException(
                    "the default model is not at " + model.toAbsolutePath()
                            + "; start this command through ./tenon, which builds what is missing, or name another with --model");
        }
        return model;
    }
}
