package dev.tenon.models.embedding;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.op.quantisation.DynamicQuantize;
import dev.tenon.formats.onnx.OnnxModel;
import dev.tenon.models.tokenizer.Tokenizer;
import dev.tenon.models.tokenizer.Truncation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What an encoder does, decided from options first, then the model's files, then by assumption.
 *
 * @param output the model's output that is taken
 * @param pooling the pooled vectors that are put one behind another
 * @param poolsPrompt whether the tokens of the prompt count in pooling
 * @param steps what happens to a pooled vector; not to one that the model itself has pooled
 * @param normalise whether the result is scaled to length 1, after all steps
 * @param maxTokens the most tokens of a text
 * @param lowercase whether texts are put in lower case first
 * @param prompt what stands before each text
 * @param alone whether texts go through the model one by one: where activations are quantised by the range of a whole
 *     batch, a text's vector would depend on the texts beside it and on their padding
 * @param assumptions what no option and no file says
 */
record EncoderSetup(
        String output,
        List<Pooling> pooling,
        boolean poolsPrompt,
        List<SentenceFiles.Step> steps,
        boolean normalise,
        int maxTokens,
        boolean lowercase,
        String prompt,
        boolean alone,
        List<Assumption> assumptions) {
    /** BERT's, and all that is known where nothing says otherwise. */
    private static final int USUAL_TOKENS = 512;

    /** More is no limit: transformers writes 10³⁰ for none. */
    private static final double MAX_TOKENS = 1 << 24;

    static EncoderSetup of(OnnxModel onnx, Path model, Path tokenizer, Tokenizer words, EncoderOptions options) {
        SentenceFiles files = SentenceFiles.of(model, options.folder());
        List<Assumption> assumptions = new ArrayList<>();
        List<Pooling> pooling = options.pooling() != null ? List.of(options.pooling()) : files.pooling();
        OnnxModel.Port output = output(onnx, options.pooling() != null);
        boolean pooled =
                output.type().shape().isRanked() && output.type().shape().rank() == 2;
        if (pooled && options.pooling() != null) {
            throw new InputException("the model's output " + output.name() + " is pooled already, so pooling "
                    + options.pooling().word() + " cannot apply; leave it out");
        }
        if (pooling == null && !pooled) {
            assumptions.add(new Assumption("mean pooling", "--pooling"));
        }
        int maxTokens = maxTokens(tokenizer, words, files, options, assumptions);
        List<SentenceFiles.Step> steps = new ArrayList<>(pooled || files.steps() == null ? List.of() : files.steps());
        boolean normalise;
        if (options.normalise() != null) {
            normalise = options.normalise();
            if (!normalise) {
                steps.removeIf(SentenceFiles.Normalise.class::isInstance);
            }
        } else if (files.steps() != null) {
            normalise = !files.steps().isEmpty() && files.steps().getLast() instanceof SentenceFiles.Normalise;
        } else {
            normalise = true;
            assumptions.add(new Assumption("vectors scaled to length 1", "--no-normalize"));
        }
        return new EncoderSetup(
                output.name(),
                pooling == null ? List.of(Pooling.MEAN) : pooling,
                files.poolsPrompt(),
                List.copyOf(steps),
                normalise,
                maxTokens,
                files.lowercase(),
                prompt(files, options.prompt()),
                onnx.graph().nodes().stream().anyMatch(node -> node.op() instanceof DynamicQuantize),
                List.copyOf(assumptions));
    }

    /**
     * The output that is taken: {@code sentence_embedding}, which holds the result of all modules, unless a pooling is
     * asked for; else token vectors; else the model's only pooled output.
     */
    private static OnnxModel.Port output(OnnxModel onnx, boolean tokensWanted) {
        List<OnnxModel.Port> floats = onnx.outputs().stream()
                .filter(port -> port.type().dtype().isFloat())
                .toList();
        List<String> tokenNames = List.of("last_hidden_state", "token_embeddings");
        List<String> pooledNames = List.of("sentence_embedding", "sentence_embeddings");
        OnnxModel.Port pooled = named(floats, pooledNames, 2);
        if (pooled != null && !tokensWanted) {
            return pooled;
        }
        OnnxModel.Port tokens = named(floats, tokenNames, 3);
        if (tokens == null) {
            tokens = floats.stream()
                    .filter(port -> mayHaveRank(port, 3))
                    .findFirst()
                    .orElse(null);
        }
        if (tokens != null) {
            return tokens;
        }
        List<OnnxModel.Port> vectors =
                floats.stream().filter(port -> mayHaveRank(port, 2)).toList();
        if (vectors.size() == 1) {
            return vectors.getFirst();
        }
        throw new UnsupportedException(
                "an encoder gives a vector for each token, [batch, tokens, width], or one for each"
                        + " text, [batch, width]; this model's outputs: " + onnx.outputs());
    }

    private static OnnxModel.@Nullable Port named(List<OnnxModel.Port> ports, List<String> names, int rank) {
        return names.stream()
                .flatMap(name -> ports.stream().filter(port -> port.name().equals(name) && mayHaveRank(port, rank)))
                .findFirst()
                .orElse(null);
    }

    private static boolean mayHaveRank(OnnxModel.Port port, int rank) {
        return !port.type().shape().isRanked() || port.type().shape().rank() == rank;
    }

    /**
     * The option, sentence-transformers' file, the tokenizer's own truncation, the tokenizer's and the model's
     * settings, or what is usual.
     */
    private static int maxTokens(
            Path tokenizer,
            Tokenizer words,
            SentenceFiles files,
            EncoderOptions options,
            List<Assumption> assumptions) {
        if (options.maxTokens() != null) {
            return options.maxTokens();
        }
        if (files.maxTokens() != null) {
            return files.maxTokens();
        }
        if (words.truncation().isPresent()) {
            int length = words.truncation().map(Truncation::maxLength).orElseThrow();
            if (files.folder() == null) {
                assumptions.add(new Assumption(
                        "at most " + length + " tokens, as " + tokenizer.getFileName() + " says", "--max-tokens"));
            }
            return length;
        }
        Integer settings = settings(tokenizer, files.transformer());
        if (settings != null) {
            return settings;
        }
        assumptions.add(new Assumption("at most " + USUAL_TOKENS + " tokens", "--max-tokens"));
        return USUAL_TOKENS;
    }

    /**
     * The smaller one of {@code model_max_length} and {@code max_position_embeddings}; null when neither is there. Only
     * for a tokenizer of the usual name: others share a folder with models that are not theirs.
     */
    private static @Nullable Integer settings(Path tokenizer, @Nullable Path transformer) {
        if (!tokenizer.endsWith("tokenizer.json")) {
            return null;
        }
        List<Path> folders = new ArrayList<>();
        folders.add(Objects.requireNonNullElse(tokenizer.toAbsolutePath().getParent(), Path.of("")));
        if (transformer != null) {
            folders.add(transformer);
        }
        double least = Double.POSITIVE_INFINITY;
        for (Path folder : folders) {
            least = Math.min(least, setting(folder.resolve("tokenizer_config.json"), "model_max_length"));
            least = Math.min(least, setting(folder.resolve("config.json"), "max_position_embeddings"));
        }
        return least <= MAX_TOKENS ? (Integer) (int) least : null;
    }

    private static double setting(Path file, String field) {
        Double value = ConfigFile.read(file, config -> {
            if (!config.has(field)) {
                return null;
            }
            double number = config.number(field);
            if (!(number >= 3)) {
                throw config.error(field, "is " + number + "; it must be 3 or more");
            }
            return number;
        });
        return value == null ? Double.POSITIVE_INFINITY : value;
    }

    private static String prompt(SentenceFiles files, @Nullable Prompt asked) {
        if (asked == null) {
            return files.defaultPrompt() == null ? "" : files.prompts().getOrDefault(files.defaultPrompt(), "");
        }
        if (!asked.named()) {
            return asked.value();
        }
        String prompt = files.prompts().get(asked.value());
        if (prompt == null) {
            throw new InputException("the model's files have no prompt \"" + asked.value() + "\"; "
                    + (files.prompts().isEmpty()
                            ? "they name none"
                            : "they name " + files.prompts().keySet())
                    + "; a prompt's own text has a blank or a colon in it, as in \"query: \"");
        }
        return prompt;
    }
}
