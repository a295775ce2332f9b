package dev.tenon.models.embedding;

import dev.tenon.core.error.ImportException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Where a model's files lie. */
final class ModelFiles {
    private ModelFiles() {}

    /**
     * The model itself, or the one in a folder: {@code model.onnx}, {@code onnx/model.onnx}, or the only .onnx file of
     * either place.
     */
    static Path model(Path given) {
        if (!Files.exists(given)) {
            throw new ImportException(given + " cannot be read: there is no such file");
        }
        if (!Files.isDirectory(given)) {
            return given;
        }
        List<Path> usual =
                List.of(given.resolve("model.onnx"), given.resolve("onnx").resolve("model.onnx"));
        for (Path model : usual) {
            if (Files.isRegularFile(model)) {
                return model;
            }
        }
        List<Path> others = new ArrayList<>(models(given));
        others.addAll(models(given.resolve("onnx")));
        if (others.size() == 1) {
            return others.getFirst();
        }
        throw new ImportException("the folder " + given + " has "
                + (others.isEmpty()
                        ? "no .onnx file; looked for " + usual
                        : others.size() + " .onnx files, " + others + "; name one of them"));
    }

    private static List<Path> models(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".onnx") && Files.isRegularFile(file))
                    .sorted()
                    .limit(10)
                    .toList();
        } catch (IOException e) {
            throw ImportException.unreadable(folder, e);
        }
    }

    /** The tokenizer of a model file. */
    static Path tokenizer(Path model) {
        String name = String.valueOf(model.getFileName()).replaceFirst("\\.[^.]*$", "");
        List<Path> places = new ArrayList<>();
        places.add(model.resolveSibling(name + "-tokenizer.json"));
        for (Path folder : around(model)) {
            places.add(folder.resolve("tokenizer.json"));
            places.add(folder.resolve("0_Transformer").resolve("tokenizer.json"));
        }
        return places.stream()
                .filter(Files::isRegularFile)
                .findFirst()
                .orElseThrow(() -> new ImportException("no tokenizer beside " + model + "; looked for " + places));
    }

    /** The folder of a model file, and that folder's parent. */
    static List<Path> around(Path model) {
        List<Path> folders = new ArrayList<>();
        Path absolute = model.toAbsolutePath();
        Path folder = absolute.getParent();
        for (int i = 0; i < 2 && folder != null; i++) {
            folders.add(folder);
            folder = folder.getParent();
        }
        return folders;
    }

    /**
     * A path that a file names, which must lie below its folder; links are followed, as caches of models consist of
     * them.
     */
    static Path below(Path folder, String path, String namedIn) {
        try {
            Path below = folder.resolve(path).normalize();
            if (below.startsWith(folder.normalize()) && !path.startsWith("/")) {
                return below;
            }
        } catch (InvalidPathException e) {
            throw new ImportException(namedIn + " names the folder \"" + path + "\", which is no path here", e);
        }
        throw new ImportException(namedIn + " names the folder \"" + path + "\", which is not below " + folder);
    }
}
