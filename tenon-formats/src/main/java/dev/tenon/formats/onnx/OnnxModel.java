package dev.tenon.formats.onnx;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.Require;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.HostMemory;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.lazy.Headroom;
import dev.tenon.formats.onnx.schema.GraphProto;
import dev.tenon.formats.onnx.schema.ModelProto;
import dev.tenon.formats.onnx.schema.ValueInfoProto;
import dev.tenon.formats.onnx.schema.WireReader;
import dev.tenon.formats.onnx.tensor.ExternalFiles;
import dev.tenon.formats.onnx.tensor.Tensors;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An ONNX model as a graph that Tenon can compile, and what its file says about itself.
 *
 * <p>Weights are not copied: constants of the graph are views of the mapped file (and of the files beside it that hold
 * external data), which must not change while anything uses them. The mapping goes when nothing does.
 *
 * <p>A file is not trusted. Whatever is wrong with it, lengths, offsets, types, names, cycles, operators that Tenon has
 * not, external data outside the model's folder, is one {@link ImportException} that names the file and the node or
 * tensor.
 *
 * <p>Immutable and thread-safe. Source: the ONNX specification, IR version 3 to 13, operator sets 7 and newer (older
 * ones as far as their operators have not changed).
 */
public final class OnnxModel {
    /**
     * A graph's input or output. Dims that the file gives no number are named: as the file names them, else
     * {@code input_axis}.
     */
    public record Port(String name, TensorType type) {
        public Port {
            Require.nonNull(name, "name");
            Require.nonNull(type, "type");
        }
    }

    private final ModelProto model;
    private final Graph graph;
    private final List<Port> outputs;
    private final SequencedMap<String, Long> opsets = new LinkedHashMap<>();

    private OnnxModel(String file, MemorySegment bytes, ExternalFiles externals) {
        ModelProto whole = ModelProto.read(WireReader.of(file, bytes));
        graph = graph(file, bytes, whole, externals, Set.of());
        outputs = outputs(graph, whole.graph());
        whole.opsets().forEach(opset -> opsets.put(ModelScope.domain(opset.domain()), opset.version()));
        // the facts stay; the messages of the graph may go
        model = new ModelProto(
                whole.irVersion(),
                whole.producerName(),
                whole.producerVersion(),
                whole.domain(),
                whole.modelVersion(),
                whole.docString(),
                null,
                whole.opsets(),
                whole.metadata(),
                List.of());
    }

    private static Graph graph(
            String file, MemorySegment bytes, ModelProto model, ExternalFiles externals, Set<String> given) {
        // the messages are read anew where a run replaces defaults: few do, and kept messages would outweigh the graph
        return new GraphImporter(file, model, new Tensors(file, externals), given)
                .graph(names -> graph(file, bytes, ModelProto.read(WireReader.of(file, bytes)), externals, names));
    }

    /**
     * Reads a model file; it stays mapped as long as the graph's constants are used.
     *
     * @throws ImportException when it cannot be read, or holds what Tenon cannot run
     */
    public static OnnxModel load(Path file) {
        Require.nonNull(file, "file");
        Headroom.require("loading a model");
        String name = String.valueOf(file.getFileName());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
            return new OnnxModel(name, mapped, ExternalFiles.beside(file));
        } catch (IOException e) {
            throw ImportException.unreadable(file, e);
        }
    }

    /**
     * Reads a model from memory, copying it out of the heap once. It cannot have external data.
     *
     * @param name stands for the file name in messages
     * @throws ImportException when it holds what Tenon cannot run
     */
    public static OnnxModel parse(String name, byte[] bytes) {
        Require.nonNull(name, "name");
        Require.nonNull(bytes, "bytes");
        MemorySegment copy = HostMemory.allocate(bytes.length, 64);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, copy, 0, bytes.length);
        return new OnnxModel(name, copy, ExternalFiles.none());
    }

    private static List<Port> outputs(Graph graph, @Nullable GraphProto declared) {
        List<Port> ports = new ArrayList<>();
        for (ValueInfoProto output : Objects.requireNonNull(declared).outputs()) {
            Value value = Objects.requireNonNull(graph.outputs().get(output.name()));
            ports.add(new Port(output.name(), Declared.output(value.type(), output)));
        }
        return List.copyOf(ports);
    }

    /** The whole computation, verified; its inputs and outputs have the names that the file gives them. */
    public Graph graph() {
        return graph;
    }

    /** What a run must give, in the file's order. */
    public List<Port> inputs() {
        return graph.inputs().stream()
                .map(value -> new Port(value.name(), value.type()))
                .toList();
    }

    /**
     * What a run may give besides, in the file's order: initializers that are inputs too, of files of IR version 4 and
     * newer. The model has a value for each.
     */
    public List<Port> defaults() {
        return graph.defaults().entrySet().stream()
                .map(entry -> new Port(entry.getKey(), entry.getValue()))
                .toList();
    }

    /**
     * What a run gives, in the file's order. Where a shape depends on what a run is given, it is as the file declares
     * it.
     */
    public List<Port> outputs() {
        return outputs;
    }

    /** The version of the file format. */
    public long irVersion() {
        return model.irVersion();
    }

    /** The operator sets by domain; the default domain is the empty string. */
    public SequencedMap<String, Long> opsets() {
        return Collections.unmodifiableSequencedMap(opsets);
    }

    /** The tool that wrote the file and its version, as far as it says. */
    public String producer() {
        return (model.producerName() + " " + model.producerVersion()).strip();
    }

    /** The model's own namespace and version number, as its author counts. */
    public String domain() {
        return model.domain();
    }

    public long version() {
        return model.modelVersion();
    }

    /** The author's description, empty when there is none. */
    public String doc() {
        return model.docString();
    }

    /** Whatever else the author wrote down. */
    public Map<String, String> metadata() {
        return model.metadata();
    }

    @Override
    public String toString() {
        return "OnnxModel[" + graph.name() + ", " + inputs() + " -> " + outputs() + "]";
    }
}
