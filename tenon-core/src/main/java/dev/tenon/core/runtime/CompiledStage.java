package dev.tenon.core.runtime;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.Program;
import dev.tenon.core.compiler.Stage;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.error.Text;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.lazy.Headroom;
import dev.tenon.core.report.EngineEvent;
import dev.tenon.core.report.PlanReport;
import dev.tenon.core.tensor.Tensor;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A stage's program and, where the graph goes on after it, the cache of what follows, by the types and needed values
 * that it brought forth. Thread-safe.
 */
final class CompiledStage extends Shared {
    /** Values that a plan may depend on are shapes, counts, conditions; one larger than this is data. */
    private static final long MAX_KNOWN_BYTES = 1 << 16;

    /** What the rest of a graph is planned for. */
    private record Key(List<TensorType> types, Map<String, ByteBuffer> known) {}

    private final Planning planning;
    private final Stage stage;
    private final Program program;
    private final double millis;
    private final List<String> outputs;
    private final List<ConstantData> constants;
    private final List<CompiledLoop> loops = new ArrayList<>();
    private final SharedCache<Key, CompiledStage> following;
    private volatile boolean ran;

    /** @param passed what the passes make of the graph */
    CompiledStage(Planning planning, Graph graph, Supplier<Stage> passed) {
        Headroom.require("planning");
        this.planning = planning;
        this.following = new SharedCache<>(planning.options(), planning.events());
        ModelEvents.Span span = planning.events().begin(EngineEvent.Planned.class);
        long start = System.nanoTime();
        try {
            this.stage = passed.get();
            this.outputs = List.copyOf(stage.plan().graph().outputs().keySet());
            this.constants = beyond(graph, stage.plan().graph());
            Stage.Rest rest = stage.rest();
            if (rest != null) {
                rest.loops().forEach(call -> loops.add(new CompiledLoop(planning, call)));
            }
            this.program = planning.device()
                    .compile(stage.plan(), planning.weights(), planning.options()); // last: nothing after it fails
            this.millis = (System.nanoTime() - start) / 1e6;
        } catch (OutOfMemoryError e) { // steps prepare tables as long as the axes that they work along
            throw new OutOfMemoryException(
                    "planning \"" + graph.name() + "\": the Java heap has no room for it (" + e.getMessage()
                            + "); raise its limit with -Xmx, or use smaller sizes",
                    e);
        }
        planning.events().planned(span, stage.plan(), this::inputs, program::hostSteps);
    }

    private List<String> inputs() {
        return stage.plan().graph().inputs().stream()
                .map(input -> Text.name(input.name()) + ": " + input.type())
                .toList();
    }

    /** The constants of a plan that its graph does not have: computed for it. */
    private static List<ConstantData> beyond(Graph graph, Graph plan) {
        Set<Value> given = graph.constants();
        Set<ConstantData> beyond = new LinkedHashSet<>();
        for (Value value : plan.constants()) {
            if (!given.contains(value)) {
                beyond.add(Objects.requireNonNull(value.constant()));
            }
        }
        if (!beyond.isEmpty()) {
            beyond.removeAll(graph.constantData());
            beyond.removeIf(data -> isPart(data, graph));
        }
        return List.copyOf(beyond);
    }

    /** Whether a constant lies within one of the graph's, of which it holds no bytes of its own. */
    private static boolean isPart(ConstantData data, Graph graph) {
        if (!(data instanceof ConstantData.Dense part)
                || part.whole().byteSize() == part.segment().byteSize()) {
            return false;
        }
        for (ConstantData given : graph.constantData()) {
            if (given instanceof ConstantData.Dense dense && dense.whole().equals(part.whole())) {
                return true;
            }
        }
        return false;
    }

    @Override
    void addConstants(Set<ConstantData> to) {
        to.addAll(constants);
        if (stage.rest() == null) {
            return;
        }
        loops.forEach(loop -> loop.addConstants(to));
        following.values().forEach(next -> next.addConstants(to));
    }

    @Override
    boolean mayGrow() {
        return stage.rest() != null;
    }

    /**
     * Runs this stage and what follows it; adds the results, by name, to {@code results}.
     *
     * @param stay whether results of the last stage may stay on the device
     * @param targets tensors that the caller wants filled, by the names of outputs; the last stage fills them where it
     *     makes no others
     */
    void run(
            Device.State context,
            Tensor[] inputs,
            boolean stay,
            Map<String, Tensor> targets,
            Map<String, Tensor> results) {
        if (!ran) {
            Headroom.require("the first run of a plan");
        }
        Map<String, Tensor> named =
                !targets.isEmpty() && stage.rest() == null && targets.keySet().containsAll(outputs)
                        ? fill(context, inputs, targets)
                        : run(context, inputs, stay && stage.rest() == null);
        if (!ran) { // a volatile write for the first run only
            ran = true;
        }
        loops.forEach(loop -> loop.run(context, named));
        results.putAll(named);
        Stage.Rest rest = stage.rest();
        if (rest != null) {
            CompiledStage next = follow(rest, named);
            try {
                next.run(context, remaining(rest, named), stay, targets, results);
            } finally {
                following.release(next);
            }
        }
    }

    private Map<String, Tensor> run(Device.State context, Tensor[] inputs, boolean stay) {
        Tensor[] values = stay ? program.runOnDevice(context, inputs) : program.run(context, inputs);
        Map<String, Tensor> named = new HashMap<>();
        for (int i = 0; i < values.length; i++) {
            named.put(outputs.get(i), values[i]);
        }
        return named;
    }

    private Map<String, Tensor> fill(Device.State context, Tensor[] inputs, Map<String, Tensor> given) {
        Map<String, Tensor> named = new LinkedHashMap<>();
        stage.plan().graph().outputs().forEach((name, value) -> {
            Tensor target = value(name, given);
            Bindings.requireTarget(name, value.type(), target);
            named.put(name, target);
        });
        Tensor[] targets = named.values().toArray(Tensor[]::new);
        program.runInto(context, inputs, targets);
        return named;
    }

    /** What follows, in use until it is released. */
    private CompiledStage follow(Stage.Rest rest, Map<String, Tensor> values) {
        Map<String, TensorType> types = new LinkedHashMap<>();
        Map<String, ByteBuffer> bytes = new HashMap<>();
        for (Value input : rest.graph().inputs()) {
            Tensor tensor = value(input.name(), values);
            types.put(input.name(), tensor.type());
            if (rest.needed().contains(input.name())) {
                if (tensor.byteSize() > MAX_KNOWN_BYTES) {
                    throw new UnsupportedException("a plan cannot depend on the values of " + tensor.type() + " ("
                            + input.name() + "): more than " + MAX_KNOWN_BYTES + " bytes");
                }
                bytes.put(input.name(), tensor.segment().asByteBuffer());
            }
        }
        return following.acquire(new Key(List.copyOf(types.values()), bytes), () -> plan(rest, types, values));
    }

    private CompiledStage plan(Stage.Rest rest, Map<String, TensorType> types, Map<String, Tensor> values) {
        Map<String, ConstantData> known = new HashMap<>();
        for (String name : rest.needed()) {
            Tensor tensor = value(name, values);
            known.put(name, new ConstantData.Dense(tensor.type(), tensor.segment()));
        }
        return new CompiledStage(
                planning, rest.graph(), () -> planning.compiler().plan(rest.graph(), types, known));
    }

    private static Tensor[] remaining(Stage.Rest rest, Map<String, Tensor> values) {
        List<Tensor> inputs = new ArrayList<>();
        for (Value input : rest.graph().inputs()) {
            if (!rest.needed().contains(input.name())) {
                inputs.add(value(input.name(), values));
            }
        }
        return inputs.toArray(Tensor[]::new);
    }

    private static Tensor value(String name, Map<String, Tensor> values) {
        @Nullable Tensor tensor = values.get(name);
        if (tensor == null) {
            throw new IllegalStateException("no value " + name + " among " + values.keySet());
        }
        return tensor;
    }

    @Override
    public void close() {
        Closing closing = new Closing();
        loops.forEach(loop -> closing.step(loop::close));
        closing.step(following::close);
        closing.step(program::close);
        closing.end();
    }

    /** What planning this stage and what followed it took. */
    double planMillis() {
        double sum = millis;
        for (CompiledLoop loop : loops) {
            sum += loop.planMillis();
        }
        for (CompiledStage next : following.values()) {
            sum += next.planMillis();
        }
        return sum;
    }

    /** This stage's report and those of what followed it so far. */
    List<PlanReport> reports() {
        List<PlanReport> reports = new ArrayList<>();
        reports.add(new PlanReport(
                inputs(),
                program.steps(),
                ValueReports.of(stage.plan()),
                stage.plan().memory().arenaBytes(),
                stage.plan().memory().unplannedBytes(),
                program.workspaceBytes(),
                millis,
                program.saved(),
                stage.rest() != null));
        loops.forEach(loop -> reports.addAll(loop.reports()));
        following.values().forEach(next -> reports.addAll(next.reports()));
        return reports;
    }
}
