package dev.tenon.formats.onnx;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.formats.onnx.mapping.Attributes;
import dev.tenon.formats.onnx.mapping.Branches;
import dev.tenon.formats.onnx.mapping.NodeContext;
import dev.tenon.formats.onnx.mapping.OnnxOps;
import dev.tenon.formats.onnx.schema.AttributeProto;
import dev.tenon.formats.onnx.schema.FunctionProto;
import dev.tenon.formats.onnx.schema.GraphProto;
import dev.tenon.formats.onnx.schema.ModelProto;
import dev.tenon.formats.onnx.schema.NodeProto;
import dev.tenon.formats.onnx.schema.TensorProto;
import dev.tenon.formats.onnx.schema.ValueInfoProto;
import dev.tenon.formats.onnx.tensor.Tensors;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Turns the graph of a file, its branches and its functions into graphs of the IR. One use; not thread-safe. */
final class GraphImporter {
    /** Functions that call functions can multiply without end; no model comes near this. */
    private static final int MAX_NODES = 1_000_000;

    private static final int MAX_CALLS = 64;
    /** Before this version of the format every initializer was listed as an input too, and none could be replaced. */
    private static final long FIRST_WITH_DEFAULTS = 4;

    private final String file;
    private final ModelProto model;
    private final Tensors tensors;
    /** The initializers that are inputs here, because a run gives their values. */
    private final Set<String> given;

    private final Map<String, FunctionProto> functions = new HashMap<>();
    private int nodes;

    GraphImporter(String file, ModelProto model, Tensors tensors, Set<String> given) {
        this.file = file;
        this.model = model;
        this.tensors = tensors;
        this.given = given;
        for (FunctionProto function : model.functions()) {
            if (functions.put(key(function.domain(), function.name(), function.overload()), function) != null) {
                throw new ImportException(file + ": function \"" + function.name() + "\" is defined twice");
            }
        }
    }

    private static String key(String domain, String name, String overload) {
        return ModelScope.domain(domain) + "\n" + name + "\n" + overload;
    }

    /**
     * The model's own graph, verified.
     *
     * @param overriding imports the model anew with some of its initializers as inputs
     */
    Graph graph(Function<Set<String>, Graph> overriding) {
        GraphProto proto = model.graph();
        if (proto == null) {
            throw new ImportException(file + ": there is no graph in it; it is not an ONNX model");
        }
        ModelScope environment = new ModelScope(ModelScope.opsets(file, model.opsets()), Map.of(), List.of(), "");
        Scope scope = new Scope(new GraphBuilder(proto.name().isEmpty() ? "main" : proto.name()), null);
        try {
            Map<String, TensorProto> initialized = new HashMap<>();
            proto.initializers().forEach(tensor -> initialized.put(tensor.name(), tensor));
            SequencedMap<String, TensorType> defaults = new LinkedHashMap<>();
            for (ValueInfoProto input : proto.inputs()) {
                TensorProto value = initialized.get(input.name());
                if (value == null || given.contains(input.name())) {
                    define(scope, input.name(), scope.builder().input(input.name(), Declared.input(file, input)));
                } else if (model.irVersion() >= FIRST_WITH_DEFAULTS) {
                    defaults.put(input.name(), Declared.input(file, input));
                }
            }
            if (!defaults.isEmpty()) {
                scope.builder().defaults(defaults, overriding);
            }
            List<Value> results = body(proto, scope, environment);
            for (int i = 0; i < results.size(); i++) {
                ValueInfoProto output = proto.outputs().get(i);
                check(output, results.get(i));
                scope.builder().output(output.name(), results.get(i));
            }
            return scope.builder().build();
        } catch (ImportException e) {
            throw e;
        } catch (TenonException e) {
            throw new ImportException(file + ": " + e.getMessage(), e);
        }
    }

    private void check(ValueInfoProto output, Value value) {
        DType declared = Declared.dtype(file + ": output \"" + output.name() + "\"", output.type());
        if (declared != null && declared != value.dtype()) {
            throw new ImportException(file + ": output \"" + output.name() + "\" is declared " + declared
                    + " but computed as " + value.dtype());
        }
    }

    /** Adds a graph's constants and nodes; its results, in order. */
    private List<Value> body(GraphProto proto, Scope scope, ModelScope environment) {
        if (proto.sparse() > 0) {
            throw new ImportException(
                    file + ": graph \"" + proto.name() + "\" has sparse initializers, which are not supported");
        }
        boolean outermost = scope.isOutermost();
        for (TensorProto tensor : proto.initializers()) {
            if (!outermost || !given.contains(tensor.name())) {
                define(scope, tensor.name(), scope.builder().constant(tensor.name(), tensors.read(tensor)));
            }
        }
        nodes(proto.nodes(), scope, environment);
        List<Value> results = new ArrayList<>();
        for (ValueInfoProto output : proto.outputs()) {
            Value value = scope.find(output.name());
            if (value == null) {
                throw new ImportException(file + ": output \"" + output.name() + "\" is not defined");
            }
            results.add(value);
        }
        return results;
    }

    private void define(Scope scope, String name, Value value) {
        if (!scope.define(name, value)) {
            throw new ImportException(file + ": value \"" + name + "\" is defined twice");
        }
    }

    private void nodes(List<NodeProto> all, Scope scope, ModelScope environment) {
        for (NodeProto node : NodeOrder.of(file, all, name -> scope.find(name) != null)) {
            if (++nodes > MAX_NODES) {
                throw new ImportException(file + ": more than " + MAX_NODES + " nodes");
            }
            node(node, scope, environment);
        }
    }

    private void node(NodeProto node, Scope scope, ModelScope environment) {
        String domain = ModelScope.domain(node.domain());
        OnnxOps.Name operator = new OnnxOps.Name(domain, node.opType());
        String label = environment.prefix() + node.label();
        Long opset = environment.opsets().get(domain);
        String where = file + ": node \"" + label + "\": operator "
                + operator
                + (opset == null ? "" : " (opset " + opset + ")");
        Attributes attributes = Attributes.of(where, node.attributes(), environment.attributes());
        List<@Nullable Value> inputs = new ArrayList<>();
        for (String name : node.inputs()) {
            Value value = name.isEmpty() ? null : scope.find(name);
            if (value == null && !name.isEmpty()) {
                throw new ImportException(where + ": value \"" + name + "\" is not defined");
            }
            inputs.add(value);
        }
        FunctionProto function =
                functions.isEmpty() ? null : functions.get(key(domain, node.opType(), node.overload()));
        List<Value> results;
        if (function != null) {
            results = call(function, where, label, inputs, attributes, scope, environment);
        } else {
            if (opset == null) {
                throw new ImportException(where + ": the model imports no operator set of domain \"" + domain + "\"");
            }
            if (!OnnxOps.supports(operator)) {
                throw new ImportException(where + " is not supported" + OnnxOps.advice(operator));
            }
            results = map(
                    operator,
                    new NodeContext(
                            scope.builder(),
                            new NodeContext.Applied(where, label, node.opType(), opset),
                            inputs,
                            node.outputs().size(),
                            attributes,
                            tensors,
                            new ScopedBranches(label, scope, environment)),
                    where,
                    label);
        }
        bind(node, results, where, scope);
    }

    private static List<Value> map(OnnxOps.Name operator, NodeContext context, String where, String label) {
        try {
            return OnnxOps.map(operator, context);
        } catch (ImportException e) {
            throw e;
        } catch (TenonException e) {
            String suffix = " (node \"" + label + "\")";
            String message = String.valueOf(e.getMessage());
            throw new ImportException(where + ": " + message.replace(suffix, ""), e);
        } catch (ArithmeticException | IndexOutOfBoundsException | IllegalArgumentException e) {
            // attributes of a hostile file: sizes past 2^63, lists too short
            throw new ImportException(where + ": its attributes make no sense: " + e.getMessage(), e);
        }
    }

    private static void bind(NodeProto node, List<Value> results, String where, Scope scope) {
        for (int i = 0; i < node.outputs().size(); i++) {
            String name = node.outputs().get(i);
            if (name.isEmpty()) {
                continue;
            }
            if (i >= results.size()) {
                throw new ImportException(where + ": result " + i + " (\"" + name + "\") is not supported");
            }
            if (!scope.define(name, results.get(i))) {
                throw new ImportException(where + ": value \"" + name + "\" is defined twice");
            }
        }
    }

    /** Adds the nodes of a function where it is called. */
    private List<Value> call(
            FunctionProto function,
            String where,
            String label,
            List<@Nullable Value> inputs,
            Attributes attributes,
            Scope scope,
            ModelScope environment) {
        List<FunctionProto> calls = new ArrayList<>(environment.calls());
        if (calls.contains(function) || calls.size() >= MAX_CALLS) {
            throw new ImportException(where + ": the function calls itself, or calls nest deeper than " + MAX_CALLS);
        }
        calls.add(function);
        if (inputs.size() > function.inputs().size()) {
            throw new ImportException(
                    where + ": the function takes " + function.inputs().size() + " input(s), has " + inputs.size());
        }
        Map<String, AttributeProto> given = new HashMap<>();
        function.defaults().forEach(attribute -> given.put(attribute.name(), attribute));
        given.putAll(attributes.byName());
        Scope inner = new Scope(scope.builder(), null);
        Set<String> absent = new HashSet<>();
        for (int i = 0; i < function.inputs().size(); i++) {
            Value value = i < inputs.size() ? inputs.get(i) : null;
            if (value == null) {
                absent.add(function.inputs().get(i));
            } else {
                define(inner, function.inputs().get(i), value);
            }
        }
        ModelScope body =
                new ModelScope(ModelScope.opsets(file, function.opsets()), given, List.copyOf(calls), label + "/");
        nodes(without(function.nodes(), absent), inner, body);
        List<Value> results = new ArrayList<>();
        for (String output : function.outputs()) {
            Value value = inner.find(output);
            if (value == null) {
                throw new ImportException(where + ": the function does not define its result \"" + output + "\"");
            }
            results.add(value);
        }
        return results;
    }

    /** The nodes with inputs that the caller left out left out there too. */
    private static List<NodeProto> without(List<NodeProto> nodes, Set<String> absent) {
        return absent.isEmpty()
                ? nodes
                : nodes.stream()
                        .map(node -> new NodeProto(
                                node.name(),
                                node.domain(),
                                node.opType(),
                                node.overload(),
                                node.inputs().stream()
                                        .map(name -> absent.contains(name) ? "" : name)
                                        .toList(),
                                node.outputs(),
                                node.attributes()))
                        .toList();
    }

    /** The branches of one node. */
    private final class ScopedBranches implements Branches {
        private final String label;
        private final Scope scope;
        private final ModelScope environment;

        ScopedBranches(String label, Scope scope, ModelScope environment) {
            this.label = label;
            this.scope = scope;
            this.environment = environment;
        }

        @Override
        public List<Value> inline(GraphProto branch) {
            refuseInputs(branch);
            return body(branch, new Scope(scope.builder(), scope), environment);
        }

        @Override
        public Captured graphs(List<GraphProto> branches) {
            branches.forEach(this::refuseInputs);
            Captures captures = captures(branches);
            List<Graph> graphs = branches.stream()
                    .map(branch -> graph(branch, List.of(), captures))
                    .toList();
            return new Captured(graphs, captures.values());
        }

        @Override
        public Captured loopBody(GraphProto body, List<TensorType> inputs) {
            if (body.inputs().size() != inputs.size()) {
                throw new ImportException(file + ": node \"" + label + "\": its body takes "
                        + body.inputs().size() + " values; expected " + inputs.size());
            }
            Captures captures = captures(List.of(body));
            return new Captured(List.of(graph(body, inputs, captures)), captures.values());
        }

        /**
         * What graphs take from around them: values by name, and constants, which are constants inside too, for shapes
         * may depend on them.
         */
        private record Captures(List<String> names, List<Value> values, Map<String, Value.Origin.Constant> constants) {}

        private Captures captures(List<GraphProto> graphs) {
            Set<String> free = new LinkedHashSet<>();
            graphs.forEach(graph -> free.addAll(FreeNames.of(graph)));
            Captures captures = new Captures(new ArrayList<>(), new ArrayList<>(), new HashMap<>());
            for (String name : free) {
                Value value = scope.find(name);
                if (value == null) {
                    throw new ImportException(
                            file + ": node \"" + label + "\": value \"" + name + "\" in a branch is not defined");
                }
                if (value.origin() instanceof Value.Origin.Constant constant) {
                    captures.constants().put(name, constant);
                } else {
                    captures.names().add(name);
                    captures.values().add(value);
                }
            }
            return captures;
        }

        private Graph graph(GraphProto proto, List<TensorType> types, Captures captures) {
            Scope inner = new Scope(new GraphBuilder(proto.name().isEmpty() ? label : proto.name()), null);
            for (int i = 0; i < types.size(); i++) {
                String name = proto.inputs().get(i).name();
                define(inner, name, inner.builder().input(name, types.get(i)));
            }
            for (int i = 0; i < captures.names().size(); i++) {
                String name = captures.names().get(i);
                Value value = captures.values().get(i);
                define(inner, name, inner.builder().input(name, value.type()));
            }
            captures.constants()
                    .forEach((name, constant) ->
                            define(inner, name, inner.builder().constant(name, constant.data())));
            List<Value> results = body(proto, new Scope(inner.builder(), inner), environment);
            for (int i = 0; i < results.size(); i++) {
                // a body may give the same value twice, under one name
                inner.builder().output(i + ":" + proto.outputs().get(i).name(), results.get(i));
            }
            return inner.builder().build();
        }

        private void refuseInputs(GraphProto branch) {
            if (!branch.inputs().isEmpty()) {
                throw new ImportException(file + ": node \"" + label + "\": a branch must not have inputs, has "
                        + branch.inputs().size());
            }
        }
    }
}
