package dev.tenon.models.embedding;

import dev.tenon.core.error.InputException;
import dev.tenon.core.runtime.CompileOptions;
import dev.tenon.core.runtime.RuntimeOptions;
import dev.tenon.core.runtime.ShapePolicy;
import dev.tenon.core.runtime.Weights;

/**
 * How an encoder works. Immutable.
 *
 * @param compile precision and execution of the model
 * @param weights how the model's own weights are kept: {@code Weights.none().half(DType.F16)} for 16 bits
 * @param maxTokens longer texts are cut to this many tokens, special tokens among them; BERT-like models have 512 positions
 * @param batch how many texts go through the model at once
 * @param lengths rounding of the padded length: the mask makes padding safe
 * @param normalise whether vectors are scaled to length 1
 */
public record EncoderOptions(
        RuntimeOptions runtime,
        CompileOptions compile,
        Weights weights,
        int maxTokens,
        int batch,
        ShapePolicy lengths,
        boolean normalise) {
    public EncoderOptions {
        if (maxTokens < 3 || batch < 1) {
            throw new InputException(
                    "an encoder needs at least 3 tokens a text and 1 text a batch, got " + maxTokens + " and " + batch);
        }
    }

    public static EncoderOptions defaults() {
        return new EncoderOptions(
                RuntimeOptions.defaults(),
                CompileOptions.defaults(),
                Weights.none(),
                512,
                32,
                ShapePolicy.exact(),
                true);
    }

    public EncoderOptions withRuntime(RuntimeOptions options) {
        return new EncoderOptions(options, compile, weights, maxTokens, batch, lengths, normalise);
    }

    public EncoderOptions withCompile(CompileOptions options) {
        return new EncoderOptions(runtime, options, weights, maxTokens, batch, lengths, normalise);
    }

    public EncoderOptions withWeights(Weights kept) {
        return new EncoderOptions(runtime, compile, kept, maxTokens, batch, lengths, normalise);
    }

    public EncoderOptions withMaxTokens(int count) {
        return new EncoderOptions(runtime, compile, weights, count, batch, lengths, normalise);
    }

    public EncoderOptions withBatch(int count) {
        return new EncoderOptions(runtime, compile, weights, maxTokens, count, lengths, normalise);
    }

    public EncoderOptions withLengths(ShapePolicy policy) {
        return new EncoderOptions(runtime, compile, weights, maxTokens, batch, policy, normalise);
    }

    public EncoderOptions withNormalise(boolean on) {
        return new EncoderOptions(runtime, compile, weights, maxTokens, batch, lengths, on);
    }
}
