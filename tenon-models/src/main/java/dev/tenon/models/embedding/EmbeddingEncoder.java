package dev.tenon.models.embedding;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Preparation;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import dev.tenon.models.serving.BatcherOptions;
import dev.tenon.models.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Sentence embeddings from a BERT-like ONNX model, as the model's sentence-transformers files say: tokens through the
 * model, pooling, dense layers, scaling to length 1.
 *
 * <p>The files are {@code modules.json}, the {@code config.json} of its Pooling and Dense modules,
 * {@code sentence_bert_config.json}, {@code config_sentence_transformers.json}, and for the limit of tokens also
 * {@code tokenizer.json}, {@code tokenizer_config.json} and {@code config.json}; they lie beside the model or in its
 * parent folder. Where they say nothing, {@link #assumptions()} tells what was assumed. {@link EncoderOptions}
 * overrides all of them. A model's output that is pooled already, [batch, width], is taken as it is.
 *
 * <p>Thread-safe: each call in flight has a session of its own, kept for the next. Closing waits for calls in flight.
 */
public final class EmbeddingEncoder implements AutoCloseable {
    /** Texts of a stream that are sorted and encoded together. */
    private static final int WINDOW = 4096;

    /** Fewer texts are not worth a thread. */
    private static final int TEXTS_A_TASK = 32;

    private final Tokenizer tokenizer;
    private final TextEncoder texts;
    private final EncoderSetup setup;
    private final BatchRule rule;
    private final Engine engine;
    private final CompiledModel model;
    /** What comes behind pooling, where that waits for the parts of split texts; null where it is in the model. */
    private final @Nullable CompiledModel head;
    /** Batches at once: on a GPU one is copied while another is computed. */
    private final int lanes;

    private final PlansAhead plans;
    private final Queue<Session> idle = new ConcurrentLinkedQueue<>();

    private EmbeddingEncoder(
            Tokenizer tokenizer,
            TextEncoder texts,
            EncoderSetup setup,
            BatchRule rule,
            CompiledModel model,
            @Nullable CompiledModel head) {
        this.tokenizer = tokenizer;
        this.texts = texts;
        this.setup = setup;
        this.rule = rule;
        this.engine = model.engine();
        this.model = model;
        this.head = head;
        this.lanes = engine.target().backend().equals("cpu") ? 1 : 2;
        this.plans = new PlansAhead(model);
    }

    /**
     * Loads a model file, or the model in a folder; the tokenizer lies beside it or in its parent folder, as
     * {@code tokenizer.json} or {@code NAME-tokenizer.json}.
     *
     * @throws ImportException as {@link #load(Path, Path, Target, EncoderOptions)}
     * @throws UnsupportedException as {@link #load(Path, Path, Target, EncoderOptions)}
     */
    public static EmbeddingEncoder load(Path model, Target target) {
        Require.nonNull(model, "model");
        return load(model, Require.nonNull(target, "target"), EncoderOptions.defaults());
    }

    /** Loads a model as {@link #load(Path, Target)} does, under options. */
    public static EmbeddingEncoder load(Path model, Target target, EncoderOptions options) {
        Require.nonNull(model, "model");
        Require.nonNull(target, "target");
        Require.nonNull(options, "options");
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
        Require.nonNull(model, "model");
        Require.nonNull(tokenizer, "tokenizer");
        Require.nonNull(target, "target");
        Require.nonNull(options, "options");
        return load(model, tokenizer, target, options, List.of());
    }

    /**
     * Loads a model and a tokenizer as {@link #load(Path, Path, Target, EncoderOptions)} does, for texts that are known
     * already: the plan of their first batch is made ahead of time, some of it while the device opens, and what it
     * needs is kept for the next process.
     *
     * @param first the texts that will be encoded first; of more than 32 nothing is planned
     * @throws InputException also when one of those texts is blank
     */
    public static EmbeddingEncoder load(
            Path model, Path tokenizer, Target target, EncoderOptions options, List<String> first) {
        Require.nonNull(model, "model");
        Require.nonNull(tokenizer, "tokenizer");
        Require.nonNull(target, "target");
        Require.nonNull(options, "options");
        Require.elements(first, "first");
        Path file = ModelFiles.model(model);
        // the device is opened while the files are read; each takes a good part of the time to the first vector
        FutureTask<Engine> opening = ParallelTasks.aside("tenon-open", () -> Engine.open(target, options.engine()));
        FutureTask<Tokenizer> reading = ParallelTasks.aside("tenon-tokenizer", () -> read(tokenizer));
        try {
            OnnxModel onnx = OnnxModel.load(file);
            EncoderInputs.check(onnx.graph().inputs());
            Tokenizer words = ParallelTasks.result(reading);
            EncoderSetup setup = EncoderSetup.of(onnx, file, tokenizer, words, options);
            TextEncoder texts = new TextEncoder(words, setup, options.longTexts());
            boolean split = options.longTexts() != LongTexts.CUT;
            Graph body = EncoderGraph.body(onnx.graph(), setup, options.dimensions(), !split);
            BatchRule rule =
                    BatchRule.of(setup, options, body.inputs(), target.backend().equals("cpu"));
            CompileOptions compile = FirstBatch.planned(options.compile(), first, texts, rule, body.inputs());
            Preparation ready = Preparation.of(target, body, Weights.none(), compile);
            Engine engine = ParallelTasks.result(opening);
            CompiledModel compiled = engine.compile(ready);
            CompiledModel head = split ? head(engine, body, setup, options) : null;
            return new EmbeddingEncoder(words, texts, setup, rule, compiled, head);
        } catch (RuntimeException | Error e) {
            closeOpened(opening, e);
            throw e;
        }
    }

    private static Tokenizer read(Path tokenizer) {
        try {
            return Tokenizer.load(tokenizer);
        } catch (IOException e) {
            throw ImportException.unreadable("tokenizer " + tokenizer, e);
        }
    }

    /** Closes the engine of a model that cannot be loaded, if it was opened. */
    private static void closeOpened(FutureTask<Engine> opening, Throwable why) {
        Engine engine;
        try {
            engine = ParallelTasks.result(opening);
        } catch (RuntimeException | Error e) {
            return; // there is nothing to close, and why the model cannot be loaded is known
        }
        Closing.after(why, engine::close);
    }

    private static CompiledModel head(Engine engine, Graph body, EncoderSetup setup, EncoderOptions options) {
        Dim width = Objects.requireNonNull(body.outputs().get(EncoderGraph.VECTORS))
                .shape()
                .dim(1);
        if (!(width instanceof Dim.Fixed(long size))) {
            throw new UnsupportedException("the number of components of " + setup.output()
                    + " is not known before a run, so long texts cannot be split; cut them");
        }
        return engine.compile(EncoderGraph.head(Math.toIntExact(size), setup, options.dimensions()), options.compile());
    }

    /**
     * Returns where the tokenizer of a model file, or of the model in a folder, lies.
     *
     * @throws ImportException naming the places looked at
     */
    public static Path tokenizerBeside(Path model) {
        return ModelFiles.tokenizer(ModelFiles.model(Require.nonNull(model, "model")));
    }

    /**
     * Returns one vector a text, in the order of the texts.
     *
     * @throws InputException when a text is blank, naming its index, or a vector has fewer dimensions than were asked
     *     for
     */
    public float[][] encode(List<String> texts) {
        return embed(Require.elements(texts, "texts")).vectors().toArray(new float[0][]);
    }

    /** Returns the vector of one text. */
    public float[] encode(String text) {
        return encode(List.of(Require.nonNull(text, "text")))[0];
    }

    /**
     * Returns one vector a text, and which texts were cut.
     *
     * @throws InputException as {@link #encode(List)}
     */
    public Embeddings embed(List<String> all) {
        return embed(all, _ -> {});
    }

    /**
     * The same, telling of progress.
     *
     * @param progress told how many texts are done, by any thread, never by two at once
     */
    public Embeddings embed(List<String> all, IntConsumer progress) {
        Require.elements(all, "all");
        Require.nonNull(progress, "progress");
        return embed(tokens(all, 0), progress);
    }

    /**
     * Returns one vector a text, in order, as they are asked for: in memory for some thousands of texts, however many
     * there are. While some are encoded, the next are tokenized.
     *
     * @param texts none of them null or blank; read ahead by one window
     * @throws InputException from the stream's operations, for a blank text, naming its index
     */
    public Stream<float[]> encode(Stream<String> texts) {
        return new EncodedStream<>(
                        Require.nonNull(texts, "texts").iterator(),
                        WINDOW,
                        this::tokens,
                        window -> embed(window, _ -> {}))
                .stream().onClose(texts::close);
    }

    /** Returns a batcher for clients that have one text at a time each: servers. Close it before the encoder. */
    public EmbeddingBatcher batcher(BatcherOptions options) {
        return new EmbeddingBatcher(this, Require.nonNull(options, "options"));
    }

    /** Some texts as tokens. */
    record Tokens(int count, List<TextPart> parts, List<Integer> cut) {
        /** Texts one behind another; which were cut is left out. */
        static Tokens of(List<Tokens> some) {
            List<TextPart> parts = new ArrayList<>();
            int before = 0;
            for (Tokens tokens : some) {
                for (TextPart part : tokens.parts) {
                    parts.add(new TextPart(before + part.text(), part.tokens(), part.from()));
                }
                before += tokens.count;
            }
            return new Tokens(before, parts, List.of());
        }
    }

    /**
     * Tokenizes on all cores.
     *
     * @param before how many texts came before these
     */
    Tokens tokens(List<String> all, long before) {
        int tasks = Math.ceilDiv(all.size(), TEXTS_A_TASK);
        List<List<TextPart>> parts = new ArrayList<>(Collections.nCopies(tasks, List.of()));
        List<List<Integer>> cut = new ArrayList<>(Collections.nCopies(tasks, List.of()));
        ParallelTasks.run(Runtime.getRuntime().availableProcessors(), tasks, task -> {
            List<TextPart> ours = new ArrayList<>();
            List<Integer> cutHere = new ArrayList<>();
            for (int i = task * TEXTS_A_TASK; i < Math.min(all.size(), (task + 1) * TEXTS_A_TASK); i++) {
                if (texts.encode(i, before + i, all.get(i), ours)) {
                    cutHere.add(i);
                }
            }
            parts.set(task, ours);
            cut.set(task, cutHere);
        });
        return new Tokens(
                all.size(),
                parts.stream().flatMap(List::stream).toList(),
                cut.stream().flatMap(List::stream).toList());
    }

    Embeddings embed(Tokens tokens, IntConsumer progress) {
        PartVectors vectors = new PartVectors(tokens.count());
        List<TextBatch> batches = rule.batches(tokens.parts());
        AtomicInteger done = new AtomicInteger();
        try (PlansAhead.Making _ = lanes == 1 ? () -> {} : plans.begin(batches)) {
            ParallelTasks.run(lanes, batches.size(), i -> {
                TextBatch batch = batches.get(i);
                vectors.add(batch.parts(), run(batch));
                synchronized (done) {
                    progress.accept(done.addAndGet(batch.parts().size()));
                }
            });
        }
        return new Embeddings(head == null ? vectors.means() : finished(vectors.means(), head), tokens.cut());
    }

    private Tensor run(TextBatch batch) {
        Map<String, Tensor> inputs =
                EncoderInputs.of(model.inputs(), batch, tokenizer.padding().id(), setup.pooling());
        Session pooled = idle.poll();
        Session session = pooled != null ? pooled : model.newSession();
        try {
            return Objects.requireNonNull(session.run(inputs).get(EncoderGraph.VECTORS));
        } finally {
            idle.add(session);
        }
    }

    private static List<float[]> finished(List<float[]> pooled, CompiledModel head) {
        if (pooled.isEmpty()) {
            return pooled;
        }
        int width = pooled.getFirst().length;
        float[] rows = new float[Math.multiplyExact(pooled.size(), width)];
        for (int i = 0; i < pooled.size(); i++) {
            System.arraycopy(pooled.get(i), 0, rows, i * width, width);
        }
        try (Session session = head.newSession()) {
            Tensor vectors = Objects.requireNonNull(session.run(Map.of("pooled", Tensor.of(rows, pooled.size(), width)))
                    .get(EncoderGraph.VECTORS));
            return PartVectors.rows(vectors, pooled.size());
        }
    }

    /**
     * Returns what neither the options nor the model's files say, and was therefore assumed; empty when they say
     * everything.
     */
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
        engine.close();
    }
}
