package dev.tenon.models.embedding;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Runtime;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import dev.tenon.models.tokenizer.Encoding;
import dev.tenon.models.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Sentence embeddings from a BERT-like ONNX model: tokens through the model, the mean over each text's tokens, scaled to length 1.
 *
 * <p>Thread-safe: each call in flight has a session of its own, kept for the next. Closing waits for calls in flight.
 */
public final class EmbeddingEncoder implements AutoCloseable {
    private final Tokenizer tokenizer;
    private final EncoderOptions options;
    private final Runtime runtime;
    private final CompiledModel model;
    private final Queue<Session> idle = new ConcurrentLinkedQueue<>();

    private EmbeddingEncoder(Tokenizer tokenizer, EncoderOptions options, Runtime runtime, CompiledModel model) {
        this.tokenizer = tokenizer;
        this.options = options;
        this.runtime = runtime;
        this.model = model;
    }

    /** Loads a model; its tokenizer lies beside it, as {@code tokenizer.json} or {@code NAME-tokenizer.json}. */
    public static EmbeddingEncoder load(Path model, Target target) {
        return load(model, tokenizerBeside(model), target, EncoderOptions.defaults());
    }

    /**
     * Loads a model and a tokenizer.
     *
     * @throws ImportException when a file cannot be read or is not what it should be
     * @throws UnsupportedException when the model is no encoder, or the device is not there
     */
    public static EmbeddingEncoder load(Path model, Path tokenizer, Target target, EncoderOptions options) {
        Tokenizer words;
        try {
            words = Tokenizer.load(tokenizer).withTruncation(options.maxTokens());
        } catch (IOException e) {
            throw ImportException.unreadable("tokenizer " + tokenizer, e);
        }
        OnnxModel onnx = OnnxModel.load(model);
        EncoderInputs.check(onnx.graph().inputs());
        Runtime runtime = Runtime.open(target, options.runtime());
        try {
            CompiledModel compiled = runtime.compile(onnx.graph(), options.weights(), options.compile());
            return new EmbeddingEncoder(words, options, runtime, compiled);
        } catch (RuntimeException e) {
            runtime.close();
            throw e;
        }
    }

    /** Where a model's tokenizer lies. @throws ImportException naming the places looked at */
    public static Path tokenizerBeside(Path model) {
        if (!Files.exists(model)) {
            throw new ImportException(model + " cannot be read: there is no such file");
        }
        if (Files.isDirectory(model)) {
            throw new ImportException(model + " cannot be read: it is a directory; name the .onnx file in it");
        }
        String name = String.valueOf(model.getFileName()).replaceFirst("\\.[^.]*$", "");
        List<Path> places =
                List.of(model.resolveSibling(name + "-tokenizer.json"), model.resolveSibling("tokenizer.json"));
        return places.stream()
                .filter(Files::isRegularFile)
                .findFirst()
                .orElseThrow(() -> new ImportException("no tokenizer beside " + model + "; looked for " + places));
    }

    /** One vector a text, in the order of the texts. */
    public float[][] encode(List<String> texts) {
        List<Encoding> encodings = texts.stream().map(tokenizer::encode).toList();
        // texts of like length go together: less of a batch is padding
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < texts.size(); i++) {
            order.add(i);
        }
        order.sort(Comparator.comparingInt(i -> encodings.get(i).size()));
        float[][] vectors = new float[texts.size()][];
        for (int from = 0; from < order.size(); from += options.batch()) {
            List<Integer> batch = order.subList(from, Math.min(order.size(), from + options.batch()));
            encode(batch, encodings, vectors);
        }
        return vectors;
    }

    public float[] encode(String text) {
        return encode(List.of(text))[0];
    }

    private void encode(List<Integer> batch, List<Encoding> encodings, float[][] vectors) {
        List<Encoding> texts = batch.stream().map(encodings::get).toList();
        int longest = texts.stream().mapToInt(Encoding::size).max().orElse(0);
        int length = (int) options.lengths().round(longest, options.maxTokens());
        Tensor hidden = hidden(run(EncoderInputs.of(model.inputs(), texts, length)));
        for (int i = 0; i < texts.size(); i++) {
            float[] vector = MeanPooling.pool(hidden, i, texts.get(i).size());
            vectors[batch.get(i)] = options.normalise() ? MeanPooling.normalised(vector) : vector;
        }
    }

    private Map<String, Tensor> run(Map<String, Tensor> inputs) {
        Session pooled = idle.poll();
        Session session = pooled != null ? pooled : model.newSession();
        try {
            return session.run(inputs);
        } finally {
            idle.add(session);
        }
    }

    /** The output with a vector for each token. */
    private static Tensor hidden(Map<String, Tensor> outputs) {
        Tensor named = outputs.get("last_hidden_state");
        if (named != null) {
            return named;
        }
        return outputs.values().stream()
                .filter(tensor -> tensor.shape().rank() == 3 && tensor.dtype().isFloat())
                .findFirst()
                .orElseThrow(() -> new UnsupportedException(
                        "an encoder gives a vector for each token, [batch, tokens, width]; this model's outputs: "
                                + outputs));
    }

    public CompiledModel model() {
        return model;
    }

    public Tokenizer tokenizer() {
        return tokenizer;
    }

    /** Idempotent; waits for calls in flight. */
    @Override
    public void close() {
        runtime.close();
    }
}
