package dev.tenon.models.embedding;

import dev.tenon.core.error.InputException;
import dev.tenon.core.runtime.RuntimeOptions;
import dev.tenon.core.runtime.ShapePolicy;

/**
 * How an encoder works.
 *
 * @param maxTokens longer texts are cut to this many tokens, special tokens among them; BERT-like models have 512 positions
 * @param batch how many texts go through the model at once
 * @param lengths rounding of the padded length: the mask makes padding safe
 * @param normalise whether vectors are scaled to length 1
 */
public record EncoderOptions(RuntimeOptions runtime, int maxTokens, int batch, ShapePolicy lengths, boolean normalise) {
    public EncoderOptions {
        if (maxTokens < 3 || batch < 1) {
            throw new InputException(
                    "an encoder needs at least 3 tokens a text and 1 text a batch, got " + maxTokens + " and " + batch);
        }
    }

    public static EncoderOptions defaults() {
        return new EncoderOptions(RuntimeOptions.defaults(), 512, 32, ShapePolicy.exact(), true);
    }

    public EncoderOptions withRuntime(RuntimeOptions options) {
        return new EncoderOptions(options, maxTokens, batch, lengths, normalise);
    }

    public EncoderOptions withMaxTokens(int count) {
        return new EncoderOptions(runtime, count, batch, lengths, normalise);
    }

    public EncoderOptions withBatch(int count) {
        return new EncoderOptions(runtime, maxTokens, count, lengths, normalise);
    }

    public EncoderOptions withLengths(ShapePolicy policy) {
        return new EncoderOptions(runtime, maxTokens, batch, policy, normalise);
    }

    public EncoderOptions withNormalise(boolean on) {
        return new EncoderOptions(runtime, maxTokens, batch, lengths, on);
    }
}
