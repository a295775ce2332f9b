package dev.tenon.models.embedding;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import dev.tenon.models.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Sentence embeddings from a BERT-like ONNX model, as the model's sentence-transformers files say: tokens through the model, pooling, dense
 * layers, scaling to length 1.
 *
 * <p>The files are {@code modules.json}, the {@code config.json} of its Pooling and Dense modules, {@code sentence_bert_config.json},
 * {@code config_sentence_transformers.json}, and for the limit of tokens also {@code tokenizer.json}, {@code tokenizer_config.json} and
 * {@code config.json}; they lie beside the model or in its parent folder. Where they say nothing, {@link #assumptions()} tells what was assumed.
 * {@link EncoderOptions} overrides all of them. A model's output that is pooled already, [batch, width], is taken as it is.
 *
 * <p>Thread-safe: each call in flight has a session of its own, kept for the next. Closing waits for calls in flight.
 */
public final class EmbeddingEncoder implements AutoCloseable {
    private final Tokenizer tokenizer;
    private final TextEncoder texts;
    private final EncoderSetup setup;
    private final EncoderOptions options;
    private final Engine runtime;
    private final CompiledModel model;
    private final int batch;
    private final boolean padded;
    private final Queue<Session> idle = new ConcurrentLinkedQueue<>();

    private EmbeddingEncoder(
            Tokenizer tokenizer, EncoderSetup setup, EncoderOptions options, Engine runtime, CompiledModel model) {
        this.tokenizer = tokenizer;
        this.texts = new TextEncoder(tokenizer, setup, options.longTexts());
        this.setup = setup;
        this.options = options;
        this.runtime = runtime;
        this.model = model;
        this.batch = setup.alone() ? 1 : options.batch();
        this.padded = !setup.alone() && EncoderInputs.masked(model.inputs());
    }

    /**
     * Loads a model file, or the model in a folder; the tokenizer lies beside it or in its parent folder, as {@code tokenizer.json} or
     * {@code NAME-tokenizer.json}.
     *
     * @throws ImportException as {@link #load(Path, Path, Target, EncoderOptions)}
     * @throws UnsupportedException as {@link #load(Path, Path, Target, EncoderOptions)}
     */
    public static EmbeddingEncoder load(Path model, Target target) {
        return load(model, target, EncoderOptions.defaults());
    }

    /** Loads a model as {@link #load(Path, Target)} does, under options. */
    public static EmbeddingEncoder load(Path model, Target target, EncoderOptions options) {
        return load(model, tokenizerBeside(model), target, options);
    }

    /**
     * Loads a model and a tokenizer.
     *
     * @param model an .onnx file, or a folder with one
     * @throws ImportException when a file cannot be read or is not what it should be
     * @throws UnsupportedException when the model is no encoder, or the device is not there
     * @throws InputException when the options do not fit the model
     */
    public static EmbeddingEncoder load(Path model, Path tokenizer, Target target, EncoderOptions options) {
        Path file = ModelFiles.model(model);
        Engine engine = Engine.open(target, options.engine()); // first: it warms its loops up while the files are read
        try {
            Tokenizer words;
            try {
                words = Tokenizer.load(tokenizer);
            } catch (IOException e) {
                throw ImportException.unreadable("tokenizer " + tokenizer, e);
            }
            OnnxModel onnx = OnnxModel.load(file);
            EncoderInputs.check(onnx.graph().inputs());
            EncoderSetup setup = EncoderSetup.of(onnx, file, tokenizer, words, options);
            CompiledModel compiled = engine.compile(onnx.graph(), options.compile());
            return new EmbeddingEncoder(words, setup, options, engine, compiled);
        } catch (RuntimeException | Error e) {
            engine.close();
            throw e;
        }
    }

    /** Returns where the tokenizer of a model file, or of the model in a folder, lies. @throws ImportException naming the places looked at */
    public static Path tokenizerBeside(Path model) {
        return ModelFiles.tokenizer(ModelFiles.model(model));
    }

    /**
     * Returns one vector a text, in the order of the texts.
     *
     * @throws InputException when a text is blank, naming its index, or a vector has fewer dimensions than were asked for
     */
    public float[][] encode(List<String> texts) {
        return embed(texts).vectors().toArray(new float[0][]);
    }

    /** Returns the vector of one text. */
    public float[] encode(String text) {
        return encode(List.of(text))[0];
    }

    /**
     * Returns one vector a text, and which texts were cut.
     *
     * @throws InputException as {@link #encode(List)}
     */
    public Embeddings embed(List<String> all) {
        List<TextPart> parts = new ArrayList<>();
        List<Integer> cut = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            if (texts.encode(i, all.get(i), parts)) {
                cut.add(i);
            }
        }
        // texts of like length go together: less of a batch is padding
        parts.sort(Comparator.comparingInt(TextPart::size));
        Sums sums = new Sums(all.size());
        for (int from = 0; from < parts.size(); ) {
            int to = Math.min(parts.size(), from + batch);
            while (!padded && parts.get(to - 1).size() != parts.get(from).size()) {
                to--;
            }
            encode(parts.subList(from, to), sums);
            from = to;
        }
        List<float[]> vectors = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            vectors.add(finished(sums.mean(i)));
        }
        return new Embeddings(vectors, cut);
    }

    private void encode(List<TextPart> batch, Sums sums) {
        int longest = batch.getLast().size();
        int length = padded ? (int) options.lengths().round(longest, setup.maxTokens()) : longest;
        int padId = tokenizer.padding().id();
        Map<String, Tensor> outputs = run(EncoderInputs.of(
                model.inputs(), batch.stream().map(TextPart::tokens).toList(), length, padId));
        Tensor output = outputs.get(setup.output());
        if (output == null) {
            throw new IllegalStateException("no output " + setup.output() + " among " + outputs.keySet());
        }
        int rank = output.shape().rank();
        if ((rank != 2 && rank != 3) || output.shape().size(0) != batch.size()) {
            throw new UnsupportedException("the output " + setup.output() + " is " + output.type()
                    + ", an encoder gives [batch, tokens, width] or [batch, width]");
        }
        int width = Math.toIntExact(output.shape().size(rank - 1));
        int tokens = rank == 3 ? Math.toIntExact(output.shape().size(1)) : 1;
        for (int i = 0; i < batch.size(); i++) {
            TextPart part = batch.get(i);
            float[] rows = new float[(rank == 3 ? part.size() : 1) * width];
            if (rank == 3 && tokens < part.size()) {
                throw new UnsupportedException("the output " + setup.output() + " is " + output.type()
                        + " for texts of " + length + " tokens; an encoder gives a vector for each token");
            }
            long at = (long) i * tokens * width;
            for (int j = 0; j < rows.length; j++) {
                rows[j] = (float) output.getDouble(at + j);
            }
            sums.add(part, rank == 3 ? pooled(rows, width, part) : rows);
        }
    }

    private float[] pooled(float[] rows, int width, TextPart part) {
        int from = Math.min(part.from(), part.size() - 1);
        float[] vector = new float[0];
        for (Pooling pooling : setup.pooling()) {
            vector = VectorMath.concatenated(vector, pooling.pool(rows, width, from, part.size()));
        }
        return vector;
    }

    /** A pooled vector after the modules behind pooling. */
    private float[] finished(float[] pooled) {
        float[] vector = pooled;
        for (SentenceFiles.Step step : setup.steps()) {
            vector = switch (step) {
                case SentenceFiles.Normalise() -> VectorMath.normalised(vector);
                case SentenceFiles.Layer(Dense dense) -> dense.apply(vector);
            };
        }
        if (options.dimensions() != null) {
            vector = VectorMath.shortened(vector, options.dimensions());
        }
        return setup.normalise() ? VectorMath.normalised(vector) : vector;
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

    /** Returns what neither the options nor the model's files say, and was therefore assumed; empty when they say everything. */
    public List<Assumption> assumptions() {
        return setup.assumptions();
    }

    /** Returns the most tokens of a text, special tokens included. */
    public int maxTokens() {
        return setup.maxTokens();
    }

    /** Returns the compiled model. */
    public CompiledModel model() {
        return model;
    }

    /** Returns the tokenizer as its file describes it. */
    public Tokenizer tokenizer() {
        return tokenizer;
    }

    /** Idempotent; waits for calls in flight. */
    @Override
    public void close() {
        runtime.close();
    }

    /** The parts of each text, summed with their weights. */
    private static final class Sums {
        private final double[] @Nullable [] sums;
        private final double[] weights;

        Sums(int texts) {
            sums = new double[texts][];
            weights = new double[texts];
        }

        void add(TextPart part, float[] vector) {
            int text = part.text();
            double[] sum = sums[text];
            if (sum == null) {
                sum = new double[vector.length];
                sums[text] = sum;
            }
            int weight = part.weight();
            for (int i = 0; i < sum.length; i++) {
                sum[i] += (double) vector[i] * weight;
            }
            weights[text] += weight;
        }

        float[] mean(int text) {
            double[] sum = sums[text];
            if (sum == null) {
                throw new IllegalStateException("text " + text + " has no parts");
            }
            float[] mean = new float[sum.length];
            for (int i = 0; i < sum.length; i++) {
                mean[i] = (float) (sum[i] / weights[text]);
            }
            return mean;
        }
    }
}
