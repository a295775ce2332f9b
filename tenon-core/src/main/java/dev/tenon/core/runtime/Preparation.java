package dev.tenon.core.runtime;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.Prepared;
import dev.tenon.core.compiler.Stage;
import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.compiler.rewrite.Claims;
import dev.tenon.core.compiler.rewrite.HalfStore;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.error.Require;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.lazy.Headroom;
import dev.tenon.core.options.CompileMode;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.core.options.WeightType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A graph made ready for a kind of device: checked, its parameters bound, what is constant computed. That takes no open
 * device, so it can be done while one is opened; {@link Engine#compile(Preparation)} takes it from there.
 *
 * <p>Thread-safe; several engines may compile it.
 */
public final class Preparation {
    /** What a backend claims of a model of that precision. */
    private record BackendClaims(Backend backend, Precision precision) implements Claims {
        @Override
        public boolean mayClaim(Class<? extends Op> kind) {
            return backend.mayClaim(kind);
        }

        @Override
        public boolean test(Node node) {
            return backend.claims(node, precision);
        }
    }

    private final Backend backend;
    private final Compiler compiler;
    private final CompileOptions options;
    private final Graph graph;
    private final Weights weights;
    private final Prepared prepared;
    /** What the passes made of shapes ahead of time, by the types of the inputs, until a model takes it. */
    private final Map<List<TensorType>, Stage> planned = new ConcurrentHashMap<>();

    Preparation(Backend backend, Graph graph, Weights weights, CompileOptions options) {
        Headroom.require("compiling a model");
        this.backend = backend;
        this.compiler = new Compiler(
                options.compiler(),
                backend.claimsAny() ? new BackendClaims(backend, options.precision()) : PassContext.CLAIMS_NOTHING,
                halfStore(options.weightType()),
                options.execution().streams() > 1
                        ? MemoryPlanner.Sharing.IN_ANY_ORDER
                        : MemoryPlanner.Sharing.IN_ORDER);
        this.options = options;
        this.graph = graph;
        this.weights = weights;
        this.prepared = compiler.prepare(graph, weights.constants());
    }

    /**
     * Prepares a graph for devices of a target's backend. Of plans that are made ahead of time, what takes no device is
     * made here.
     *
     * @throws dev.tenon.core.error.InputException when weights are missing or of another type
     * @throws dev.tenon.core.error.UnsupportedException when the backend is not on the path
     */
    public static Preparation of(Target target, Graph graph, Weights weights, CompileOptions options) {
        Require.nonNull(target, "target");
        Require.nonNull(graph, "graph");
        Require.nonNull(weights, "weights");
        Require.nonNull(options, "options");
        Preparation preparation = new Preparation(Backends.named(target.backend()), graph, weights, options);
        preparation.planAhead();
        return preparation;
    }

    /** Makes what takes no device of the plans that are wanted ahead of time. */
    void planAhead() {
        if (options.mode() != CompileMode.AOT) {
            return;
        }
        List<Runnable> plans = new ArrayList<>();
        for (Map<String, Long> dims : options.profile().shapes()) {
            List<TensorType> types = Bindings.types(prepared.graph(), dims);
            plans.add(() -> planned.put(types, plan(types)));
        }
        try {
            ParallelPlans.make(plans);
        } catch (OutOfMemoryError e) {
            planned.clear(); // the model plans anew, and says what is wrong
        }
    }

    private Stage plan(List<TensorType> types) {
        return compiler.plan(prepared, Bindings.named(prepared.graph(), types), Map.of());
    }

    /** What the passes have made already of the graph with those types of its inputs; for one model. */
    @Nullable
    Stage takePlanned(List<TensorType> types) {
        return planned.remove(types);
    }

    private static @Nullable HalfStore halfStore(WeightType type) {
        return switch (type) {
            case UNCHANGED -> null;
            case F16 -> new HalfStore(DType.F16);
            case BF16 -> new HalfStore(DType.BF16);
        };
    }

    /** The name of the backend whose devices it is for. */
    String backend() {
        return backend.name();
    }

    Compiler compiler() {
        return compiler;
    }

    CompileOptions options() {
        return options;
    }

    Graph graph() {
        return graph;
    }

    /** The graph with all its defaults, prepared. */
    Prepared prepared() {
        return prepared;
    }

    /** The graph without some of its defaults, prepared anew. */
    Prepared preparedOverriding(Set<String> names) {
        return compiler.prepare(graph.overriding(names), weights.constants());
    }
}
