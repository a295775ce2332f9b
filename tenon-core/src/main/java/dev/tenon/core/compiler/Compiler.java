package dev.tenon.core.compiler;

import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.compiler.rewrite.HalfStore;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Verifier;
import dev.tenon.core.lazy.Lazy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Drives the passes. A graph is prepared once: parameters are bound and everything that depends on constants alone is
 * computed. From the prepared graph a stage is planned for each binding of shapes: {@code specialise} makes every shape
 * concrete, the listed passes follow in their order, and the memory plan ends it. The verifier checks a prepared graph
 * once; with assertions enabled it checks every specialised graph and the result of each pass too.
 *
 * <p>Thread-safe.
 */
public final class Compiler {
    private static final Lazy<PassOrder> ORDER = new Lazy<>() {
        @Override
        protected PassOrder make() {
            return PassOrder.standard();
        }
    };

    private final CompilerOptions options;
    private final PassContext context;
    private final MemoryPlanner.Sharing sharing;

    /** @param claims whether the backend runs a node whole, rather than the pieces that stand for it */
    public Compiler(CompilerOptions options, Predicate<Node> claims) {
        this(options, claims, null);
    }

    /** @param half keeps f32 weights in 16 bits; null for as they are */
    public Compiler(CompilerOptions options, Predicate<Node> claims, @Nullable HalfStore half) {
        this(options, claims, half, MemoryPlanner.Sharing.IN_ORDER);
    }

    /** @param sharing which values may share memory, where the options allow that at all */
    public Compiler(
            CompilerOptions options, Predicate<Node> claims, @Nullable HalfStore half, MemoryPlanner.Sharing sharing) {
        List<String> unknown = options.skip().stream()
                .filter(name -> !optimisationNames().contains(name))
                .sorted()
                .toList();
        if (!unknown.isEmpty()) {
            throw new InputException("no pass " + String.join(" and ", unknown) + " can be skipped; expected some of "
                    + String.join(", ", optimisationNames()));
        }
        List<String> unseen = options.dumpAfter().stream()
                .filter(options.skip()::contains)
                .sorted()
                .toList();
        if (!unseen.isEmpty()) {
            throw new InputException("no graph can be dumped after " + String.join(" and ", unseen)
                    + ", which is skipped; expected another pass, or all");
        }
        this.options = options;
        this.sharing = options.shareMemory() ? sharing : MemoryPlanner.Sharing.NONE;
        this.context = new PassContext(claims, half);
    }

    /** The names that {@code skip} knows, in the order of the passes. */
    public static List<String> optimisationNames() {
        return Stream.concat(ORDER.get().optimisations().stream(), ORDER.get().ahead().stream())
                .map(Pass::name)
                .distinct()
                .filter(name -> !required(name))
                .toList();
    }

    private static boolean required(String name) {
        return Stream.concat(ORDER.get().requiredFirst().stream(), ORDER.get().requiredLast().stream())
                .anyMatch(pass -> pass.name().equals(name));
    }

    /** The names that {@code dumpAfter} knows, in the order of the passes. */
    public static List<String> passNames() {
        List<String> names = new ArrayList<>(List.of("prepare", "specialise"));
        ORDER.get().ofPlan().stream().map(Pass::name).forEach(names::add);
        return names;
    }

    /**
     * Binds the parameters and computes what depends on constants alone.
     *
     * @throws InputException when a parameter has no data, or data of another type
     */
    public Prepared prepare(Graph graph, Map<String, ConstantData> parameters) {
        for (var parameter : graph.parameters()) {
            ConstantData data = parameters.get(parameter.name());
            if (data == null) {
                throw new InputException("parameter \"" + parameter.name() + "\" (" + parameter.type() + ") of graph \""
                        + graph.name() + "\" has no weights; given: " + parameters.keySet());
            }
            if (!data.type().equals(parameter.type())) {
                throw new InputException("parameter \"" + parameter.name() + "\" is " + parameter.type()
                        + ", the weights given are " + data.type());
            }
        }
        Graph prepared = PartialEvaluator.evaluate(graph, Map.of(), parameters);
        if (!options.optimise()) {
            return new Prepared(verified(dump("prepare", prepared)), prepared, Map.of());
        }
        SymbolicSizes sizes = new SymbolicSizes();
        Graph reduced = PartialEvaluator.withNamedSizes(prepared, sizes);
        boolean decided = context.half() == null;
        for (Pass pass : ORDER.get().ahead()) {
            decided |= pass instanceof HalfPrecision halves && halves.isDecided(reduced, context);
            boolean waits = !decided && PassOrder.followsHalves(pass);
            reduced = waits || options.skip().contains(pass.name()) ? reduced : pass.apply(reduced, context);
        }
        return new Prepared(verified(prepared), verified(dump("prepare", reduced)), sizes.limits());
    }

    /** Computes what depends on constants alone in a loop's body, whose inputs may give one name several numbers. */
    public Graph prepareBody(Graph body) {
        return verified(dump("prepare", PartialEvaluator.evaluate(body, Map.of(), Map.of())));
    }

    private static Graph verified(Graph graph) {
        Verifier.verify(graph);
        return graph;
    }

    /** Plans a prepared model, as {@link #plan(Graph, Map, Map)}, by what its plans have in common. */
    public Stage plan(Prepared prepared, Map<String, TensorType> types, Map<String, ConstantData> known) {
        Graph serving = prepared.serving(types);
        return known.isEmpty() && !serving.equals(prepared.graph())
                ? planned(PartialEvaluator.evaluate(serving, types, prepared.recipe()))
                : plan(serving, types, known);
    }

    /**
     * Plans what of a prepared graph can be planned with these types of its inputs.
     *
     * @param types concrete types of all inputs that are not known, by name
     * @param known values of inputs, by name
     */
    public Stage plan(Graph prepared, Map<String, TensorType> types, Map<String, ConstantData> known) {
        return planned(PartialEvaluator.evaluate(prepared, types, known));
    }

    private Stage planned(Graph graph) {
        Graph specialised = dump("specialise", graph);
        if (!hasLate(specialised)) {
            return new Stage(finish(specialised), null);
        }
        StageSplit split = StageSplit.of(specialised);
        return new Stage(finish(split.ready()), split.rest());
    }

    private static boolean hasLate(Graph graph) {
        for (Node node : graph.nodes()) {
            if (StageSplit.isLate(node)) {
                return true;
            }
        }
        return false;
    }

    private Plan finish(Graph graph) {
        PassOrder order = ORDER.get();
        Graph current = run(order.requiredFirst(), graph);
        if (options.optimise()) {
            current = run(order.optimisations(), current);
        }
        current = run(order.requiredLast(), current);
        return new Plan(current, MemoryPlanner.plan(current, sharing));
    }

    private Graph run(List<Pass> passes, Graph graph) {
        Graph current = graph;
        for (Pass pass : passes) {
            current = run(pass, current);
        }
        return current;
    }

    private Graph run(Pass pass, Graph graph) {
        return options.skip().contains(pass.name()) ? graph : dump(pass.name(), pass.apply(graph, context));
    }

    private Graph dump(String pass, Graph graph) {
        Set<String> after = options.dumpAfter();
        if (!after.isEmpty() && (after.contains(pass) || after.contains("all"))) {
            options.dump().accept(pass, graph.toString());
        }
        return graph;
    }
}
