package dev.tenon.cli.model;

import dev.tenon.cli.console.Values;
import dev.tenon.models.embedding.EncoderOptions;
import dev.tenon.models.embedding.LongTexts;
import dev.tenon.models.embedding.Pooling;
import dev.tenon.models.embedding.Prompt;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What a text goes through; what is not given is as the model's files say. */
final class EncoderSettings {
    @Option(
            names = "--config",
            paramLabel = "FOLDER",
            description = "The folder of modules.json, where it is neither the model's nor its parent.")
    @Nullable
    Path folder;

    @Option(
            names = "--pooling",
            paramLabel = "P",
            converter = Values.PoolingRule.class,
            description = "cls, mean, max, last-token, weighted-mean or mean-sqrt-len; by default as modules.json says,"
                    + " else mean.")
    @Nullable
    Pooling pooling;

    @Option(
            names = "--max-tokens",
            paramLabel = "N",
            converter = Values.Tokens.class,
            description = "The most tokens of a text, special tokens included; by default as sentence_bert_config.json"
                    + " says, else the tokenizer's files, else 512.")
    @Nullable
    Integer maxTokens;

    @Option(
            names = "--long",
            paramLabel = "cut|split",
            defaultValue = "cut",
            description =
                    "Longer texts are cut (the default), or split into parts whose vectors are averaged by tokens.")
    LongTexts longTexts = LongTexts.CUT;

    @Option(
            names = "--prompt",
            paramLabel = "P",
            description =
                    "What stands before each text: the name of a prompt in config_sentence_transformers.json, or,"
                            + " with a blank or a colon in it, the prompt itself, such as \"query: \". \"\" turns off the default.")
    @Nullable
    String prompt;

    @Option(
            names = "--dimensions",
            paramLabel = "N",
            converter = Values.Positive.class,
            description = "Keep the first N components of each vector and scale it again (Matryoshka models).")
    @Nullable
    Integer dimensions;

    @Option(
            names = "--normalize",
            negatable = true,
            description =
                    "Scale vectors to length 1, or (--no-normalize) do not; by default as modules.json says, else yes.")
    @Nullable
    Boolean normalise;

    EncoderOptions apply(EncoderOptions defaults) {
        EncoderOptions options = defaults.withLongTexts(longTexts);
        options = folder == null ? options : options.withFolder(folder);
        options = pooling == null ? options : options.withPooling(pooling);
        options = maxTokens == null ? options : options.withMaxTokens(maxTokens);
        options = prompt == null ? options : options.withPrompt(Prompt.parse(prompt));
        options = dimensions == null ? options : options.withDimensions(dimensions);
        return normalise == null ? options : options.withNormalise(normalise);
    }
}
