package dev.tenon.models.embedding;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.ShapePolicy;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How an encoder works. Immutable. What is null here is as the model's files say, and where they say nothing as
 * {@link EmbeddingEncoder#assumptions()} tells.
 *
 * @param engine the device's threads and memory
 * @param compile precision, type of weights and execution of the model
 * @param batch how many texts go through the model at once; null for what suits the device and the texts' lengths; one
 *     where the model quantises activations by the range of the whole batch
 * @param lengths rounding of the padded length: the mask makes padding safe; null for what suits the device
 * @param folder where {@code modules.json} and the files it names lie; null for beside the model or in its parent
 *     folder
 * @param pooling how token vectors become one vector
 * @param maxTokens the most tokens of a text, special tokens included
 * @param longTexts what happens to longer texts
 * @param prompt what stands before each text
 * @param dimensions the number of leading components that are kept
 * @param normalise whether vectors are scaled to length 1
 */
public record EncoderOptions(
        EngineOptions engine,
        CompileOptions compile,
        @Nullable Integer batch,
        @Nullable ShapePolicy lengths,
        @Nullable Path folder,
        @Nullable Pooling pooling,
        @Nullable Integer maxTokens,
        LongTexts longTexts,
        @Nullable Prompt prompt,
        @Nullable Integer dimensions,
        @Nullable Boolean normalise) {
    public EncoderOptions {
        Require.nonNull(engine, "engine");
        Require.nonNull(compile, "compile");
        Require.nonNull(longTexts, "longTexts");
        if (batch != null && batch < 1) {
            throw InputException.of("batch", "argument \"batch\" is " + batch + "; expected 1 text or more");
        }
        if (maxTokens != null && maxTokens < 3) {
            throw InputException.of(
                    "maxTokens", "argument \"maxTokens\" is " + maxTokens + "; expected 3 tokens or more");
        }
        if (dimensions != null && dimensions < 1) {
            throw InputException.of("dimensions", "argument \"dimensions\" is " + dimensions + "; expected 1 or more");
        }
    }

    /** Returns options under which everything is as the model's files say; long texts are cut. */
    public static EncoderOptions defaults() {
        return new EncoderOptions(
                EngineOptions.defaults(),
                CompileOptions.defaults(),
                null,
                null,
                null,
                null,
                null,
                LongTexts.CUT,
                null,
                null,
                null);
    }

    /** Returns these options with threads and memory of the device. */
    public EncoderOptions withEngine(EngineOptions options) {
        Require.nonNull(options, "options");
        return new EncoderOptions(
                options, compile, batch, lengths, folder, pooling, maxTokens, longTexts, prompt, dimensions, normalise);
    }

    /** Returns these options with precision and execution of the model. */
    public EncoderOptions withCompile(CompileOptions options) {
        Require.nonNull(options, "options");
        return new EncoderOptions(
                engine, options, batch, lengths, folder, pooling, maxTokens, longTexts, prompt, dimensions, normalise);
    }

    /** Returns these options with {@code count} texts a batch. */
    public EncoderOptions withBatch(int count) {
        return new EncoderOptions(
                engine, compile, count, lengths, folder, pooling, maxTokens, longTexts, prompt, dimensions, normalise);
    }

    /** Returns these options with padded lengths rounded. */
    public EncoderOptions withLengths(ShapePolicy policy) {
        Require.nonNull(policy, "policy");
        return new EncoderOptions(
                engine, compile, batch, policy, folder, pooling, maxTokens, longTexts, prompt, dimensions, normalise);
    }

    /** Returns these options with the sentence-transformers files read from {@code elsewhere}. */
    public EncoderOptions withFolder(Path elsewhere) {
        Require.nonNull(elsewhere, "elsewhere");
        return new EncoderOptions(
                engine,
                compile,
                batch,
                lengths,
                elsewhere,
                pooling,
                maxTokens,
                longTexts,
                prompt,
                dimensions,
                normalise);
    }

    /** Returns these options with token vectors pooled as {@code rule} says, whatever the files say. */
    public EncoderOptions withPooling(Pooling rule) {
        Require.nonNull(rule, "rule");
        return new EncoderOptions(
                engine, compile, batch, lengths, folder, rule, maxTokens, longTexts, prompt, dimensions, normalise);
    }

    /** Returns these options with at most {@code count} tokens a text, special tokens included. */
    public EncoderOptions withMaxTokens(int count) {
        return new EncoderOptions(
                engine, compile, batch, lengths, folder, pooling, count, longTexts, prompt, dimensions, normalise);
    }

    /** Returns these options with longer texts treated as {@code rule} says. */
    public EncoderOptions withLongTexts(LongTexts rule) {
        Require.nonNull(rule, "rule");
        return new EncoderOptions(
                engine, compile, batch, lengths, folder, pooling, maxTokens, rule, prompt, dimensions, normalise);
    }

    /**
     * Returns these options with a prompt before each text; {@link Prompt#none()} also turns off the one that the files
     * ask for.
     */
    public EncoderOptions withPrompt(Prompt before) {
        Require.nonNull(before, "before");
        return new EncoderOptions(
                engine, compile, batch, lengths, folder, pooling, maxTokens, longTexts, before, dimensions, normalise);
    }

    /**
     * Returns these options with vectors cut to their first {@code count} components, and scaled again if they are
     * scaled.
     */
    public EncoderOptions withDimensions(int count) {
        return new EncoderOptions(
                engine, compile, batch, lengths, folder, pooling, maxTokens, longTexts, prompt, count, normalise);
    }

    /** Returns these options with vectors scaled to length 1, or not. */
    public EncoderOptions withNormalise(boolean on) {
        return new EncoderOptions(
                engine, compile, batch, lengths, folder, pooling, maxTokens, longTexts, prompt, dimensions, on);
    }
}
