package dev.tenon.models.embedding;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.json.JsonObject;
import dev.tenon.formats.safetensors.Safetensors;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The Dense module of sentence-transformers: {@code activation(weight · x + bias)} on a pooled vector. */
final class Dense {
    private final Path folder;
    private final int in;
    private final Tensor weight;
    private final @Nullable Tensor bias;
    private final Activation activation;

    private enum Activation {
        IDENTITY,
        TANH,
        RELU,
        SIGMOID
    }

    private Dense(Path folder, JsonObject config) {
        this.folder = folder;
        in = config.integer("in_features", 1);
        int out = config.integer("out_features", 1);
        activation = activation(config);
        if (config.has("module_input_name")
                && !config.string("module_input_name").equals("sentence_embedding")) {
            throw config.error(
                    "module_input_name",
                    "is '" + config.string("module_input_name")
                            + "', which is not supported; supported: sentence_embedding");
        }
        Path weights = folder.resolve("model.safetensors");
        if (!Files.isRegularFile(weights)) {
            throw new ImportException("the weights of the Dense module are not at " + weights
                    + (Files.exists(folder.resolve("pytorch_model.bin"))
                            ? ", and pytorch_model.bin is a pickle, which is not read; save the model again with"
                                    + " sentence-transformers 2.3 or newer, which writes safetensors"
                            : ""));
        }
        Safetensors tensors = Safetensors.read(weights);
        weight = values(tensors, weights, "linear.weight", Shape.of(out, in));
        bias = config.bool("bias", true) ? values(tensors, weights, "linear.bias", Shape.of(out)) : null;
    }

    static Dense read(Path folder) {
        Path file = folder.resolve("config.json");
        Dense dense = ConfigFile.read(file, config -> new Dense(folder, config));
        if (dense == null) {
            throw new ImportException("the Dense module has no " + file);
        }
        return dense;
    }

    private static Tensor values(Safetensors tensors, Path file, String name, Shape shape) {
        if (!tensors.types().containsKey(name)) {
            throw new ImportException(
                    file + " has no tensor " + name + ", which a Dense module needs; it has " + tensors.types());
        }
        Tensor tensor = tensors.tensor(name);
        if (!tensor.shape().equals(shape) || !tensor.dtype().isFloat()) {
            throw new ImportException(file + ": " + name + " is " + tensor.type() + ", expected floats " + shape
                    + " as in config.json beside it");
        }
        return Tensor.of(DType.F32, tensor.toDoubles(), shape.sizes());
    }

    private static Activation activation(JsonObject config) {
        String name = config.has("activation_function")
                ? config.string("activation_function")
                : "torch.nn.modules.activation.Tanh";
        return switch (name.substring(name.lastIndexOf('.') + 1)) {
            case "Identity" -> Activation.IDENTITY;
            case "Tanh" -> Activation.TANH;
            case "ReLU" -> Activation.RELU;
            case "Sigmoid" -> Activation.SIGMOID;
            default ->
                throw new UnsupportedException("the Dense module's activation " + name
                        + " is not supported; supported: " + List.of("Identity", "Tanh", "ReLU", "Sigmoid"));
        };
    }

    /**
     * Adds the layer to a graph.
     *
     * @param x [texts, components]
     */
    Value apply(GraphBuilder g, Value x) {
        if (!x.shape().dim(1).equals(Dim.of(in))) {
            throw new ShapeException("the Dense module in " + folder + " takes vectors of " + in
                    + " components, pooling gives " + x.shape().dim(1));
        }
        Value product = g.matmul(x, g.transpose(g.constant(weight), 1, 0));
        Value y = bias == null ? product : g.add(product, g.constant(bias));
        return switch (activation) {
            case IDENTITY -> y;
            case TANH -> g.tanh(y);
            case RELU -> g.relu(y);
            case SIGMOID -> g.sigmoid(y);
        };
    }
}
