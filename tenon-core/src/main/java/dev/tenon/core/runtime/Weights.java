package dev.tenon.core.runtime;

import dev.tenon.core.error.Require;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Tensors for a graph's parameters, by name. The tensors are used where they lie (those of a confined arena are
 * copied): they must not change while a model compiled with them is open. Immutable.
 */
public final class Weights {
    private final Map<String, Tensor> tensors;

    private Weights(Map<String, Tensor> tensors) {
        this.tensors = tensors;
    }

    public static Weights none() {
        return new Weights(Map.of());
    }

    public static Weights of(String name, Tensor tensor) {
        return none().with(name, tensor);
    }

    public static Weights of(Map<String, Tensor> tensors) {
        return new Weights(Map.copyOf(Require.entries(tensors, "tensors")));
    }

    public Weights with(String name, Tensor tensor) {
        Map<String, Tensor> all = new LinkedHashMap<>(tensors);
        all.put(Require.nonNull(name, "name"), Require.nonNull(tensor, "tensor"));
        return new Weights(Map.copyOf(all));
    }

    Map<String, ConstantData> constants() {
        Map<String, ConstantData> constants = new LinkedHashMap<>();
        tensors.forEach((name, tensor) -> {
            tensor.requireReadable("parameter \"" + name + "\"");
            constants.put(name, new ConstantData.Dense(tensor.type(), tensor.everywhere()));
        });
        return constants;
    }
}
