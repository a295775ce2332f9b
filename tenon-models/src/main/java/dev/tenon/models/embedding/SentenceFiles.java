package dev.tenon.models.embedding;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.formats.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * What the sentence-transformers files of a model say; each may be absent.
 *
 * @param folder where {@code modules.json} lies, or one of the other files; null when there are none
 * @param transformer where the transformer's own files lie
 * @param pooling the pooled vectors that are put one behind another; null when no file says
 * @param poolsPrompt whether the tokens of a prompt count in pooling
 * @param steps what happens to a pooled vector, in order; null when no {@code modules.json} says
 * @param maxTokens the limit of {@code sentence_bert_config.json}
 * @param lowercase whether texts are put in lower case before the tokenizer sees them
 * @param prompts prompts by name
 * @param defaultPrompt the name of the prompt that is used where nothing else is asked for
 */
record SentenceFiles(
        @Nullable Path folder,
        @Nullable Path transformer,
        @Nullable List<Pooling> pooling,
        boolean poolsPrompt,
        @Nullable List<Step> steps,
        @Nullable Integer maxTokens,
        boolean lowercase,
        SequencedMap<String, String> prompts,
        @Nullable String defaultPrompt) {

    /** What happens to a pooled vector. */
    sealed interface Step {}

    /** Scaling to length 1. */
    record Normalise() implements Step {}

    /** A dense layer. */
    record Layer(Dense dense) implements Step {}

    private static final String MODULES = "modules.json";
    private static final String PROMPTS = "config_sentence_transformers.json";
    private static final Path USUAL_POOLING = Path.of("1_Pooling", "config.json");
    private static final List<String> LIMITS = List.of(
            "sentence_bert_config.json",
            "sentence_roberta_config.json",
            "sentence_distilbert_config.json",
            "sentence_camembert_config.json",
            "sentence_albert_config.json",
            "sentence_xlm-roberta_config.json",
            "sentence_xlnet_config.json");

    /** Reads the files beside a model or in its parent folder, or those of a given folder. */
    static SentenceFiles of(Path model, @Nullable Path given) {
        List<Path> places = given != null ? List.of(given) : ModelFiles.around(model);
        for (Path place : places) {
            if (Files.isRegularFile(place.resolve(MODULES))) {
                return read(place);
            }
        }
        for (Path place : places) {
            List<Path> others = new ArrayList<>(List.of(place.resolve(USUAL_POOLING), place.resolve(PROMPTS)));
            LIMITS.forEach(name -> others.add(place.resolve(name)));
            if (others.stream().anyMatch(Files::isRegularFile)) {
                return read(place);
            }
        }
        if (given != null) {
            throw new ImportException("the folder " + given + " has no " + MODULES + " and no " + USUAL_POOLING);
        }
        return new SentenceFiles(null, null, null, true, null, null, false, new LinkedHashMap<>(), null);
    }

    private static SentenceFiles read(Path folder) {
        Builder files = new Builder(folder);
        Path modules = folder.resolve(MODULES);
        if (Files.isRegularFile(modules)) {
            files.modules(modules);
        } else {
            files.pooling(folder.resolve(USUAL_POOLING));
        }
        for (String name : LIMITS) {
            ConfigFile.read(files.transformer.resolve(name), files::limit);
        }
        ConfigFile.read(folder.resolve(PROMPTS), files::prompts);
        return new SentenceFiles(
                folder,
                files.transformer,
                files.pooling,
                files.poolsPrompt,
                files.steps,
                files.maxTokens,
                files.lowercase,
                files.prompts,
                files.defaultPrompt);
    }

    /** The last part of a module's Python class. */
    private static String kind(JsonObject module) {
        String type = module.string("type");
        return type.substring(type.lastIndexOf('.') + 1);
    }

    private static final class Builder {
        private final Path folder;
        private Path transformer;
        private @Nullable List<Pooling> pooling;
        private boolean poolsPrompt = true;
        private @Nullable List<Step> steps;
        private @Nullable Integer maxTokens;
        private boolean lowercase;
        private SequencedMap<String, String> prompts = new LinkedHashMap<>();
        private @Nullable String defaultPrompt;

        Builder(Path folder) {
            this.folder = folder;
            this.transformer = folder;
        }

        void modules(Path file) {
            List<JsonObject> modules = new ArrayList<>();
            ConfigFile.value(file, root -> {
                if (!(root instanceof List<?> list)) {
                    throw new ImportException("byte 0: expected an array of modules");
                }
                list.forEach(module -> modules.add(ConfigFile.object(module)));
                return null;
            });
            List<Step> found = new ArrayList<>();
            for (JsonObject module : modules) {
                Path path = ModelFiles.below(folder, module.has("path") ? module.string("path") : "", file.toString());
                module(kind(module), path, found);
            }
            steps = List.copyOf(found);
        }

        private void module(String kind, Path path, List<Step> found) {
            switch (kind) {
                case "Transformer" -> transformer = path;
                case "Pooling" -> {
                    if (pooling != null) {
                        throw new UnsupportedException(
                                "the model in " + folder + " has two Pooling modules; one is supported");
                    }
                    if (!pooling(path.resolve("config.json"))) {
                        throw new ImportException("the Pooling module has no " + path.resolve("config.json"));
                    }
                }
                case "Dense" -> {
                    if (pooling == null) {
                        throw new UnsupportedException(
                                "the model in " + folder
                                        + " has a Dense module on token vectors, before Pooling; only pooled vectors are supported");
                    }
                    found.add(new Layer(Dense.read(path)));
                }
                case "Normalize" -> found.add(new Normalise());
                case "Dropout" -> {} // does nothing outside training
                default ->
                    throw new UnsupportedException("the model in " + folder + " has a module " + kind
                            + "; supported: Transformer, Pooling, Dense, Normalize, Dropout");
            }
        }

        /** Whether the file is there. */
        boolean pooling(Path file) {
            pooling = ConfigFile.read(file, config -> {
                poolsPrompt = config.bool("include_prompt", true);
                return PoolingConfig.read(config);
            });
            return pooling != null;
        }

        @Nullable
        Void limit(JsonObject config) {
            if (maxTokens == null && config.has("max_seq_length")) {
                maxTokens = config.integer("max_seq_length", 3);
            }
            lowercase |= config.bool("do_lower_case", false);
            return null;
        }

        @Nullable
        Void prompts(JsonObject config) {
            JsonObject named = config.objectOrNull("prompts");
            if (named != null) {
                Map<String, String> all = prompts;
                named.names().forEach(name -> all.put(name, named.string(name)));
            }
            if (config.has("default_prompt_name")) {
                defaultPrompt = config.string("default_prompt_name");
                if (!prompts.containsKey(defaultPrompt)) {
                    throw config.error(
                            "default_prompt_name", "is '" + defaultPrompt + "', which is none of " + prompts.keySet());
                }
            }
            return null;
        }
    }
}
