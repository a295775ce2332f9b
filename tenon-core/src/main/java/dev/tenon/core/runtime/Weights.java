package dev.tenon.core.runtime;

import dev.tenon.core.compiler.rewrite.HalfStore;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Tensors for a graph's parameters, by name. The tensors are used where they lie (those of a confined arena are copied): they must not change while a model compiled with them is open. Immutable. */
public final class Weights {
    private final Map<String, Tensor> tensors;
    private final @Nullable DType half;

    private Weights(Map<String, Tensor> tensors, @Nullable DType half) {
        this.tensors = tensors;
        this.half = half;
    }

    public static Weights none() {
        return new Weights(Map.of(), null);
    }

    public static Weights of(String name, Tensor tensor) {
        return none().with(name, tensor);
    }

    public static Weights of(Map<String, Tensor> tensors) {
        return new Weights(Map.copyOf(tensors), null);
    }

    public Weights with(String name, Tensor tensor) {
        Map<String, Tensor> all = new LinkedHashMap<>(tensors);
        all.put(name, tensor);
        return new Weights(Map.copyOf(all), half);
    }

    /**
     * The same weights, kept in 16 bits on the device: those given here and the graph's own f32 constants. What is computed from them is 16 bits wide, too, wherever the operation bears it (it still counts in f32 inside); inputs and
     * outputs stay as they are. Half the memory, and on GPUs with tensor cores several times the speed, for about three decimal digits.
     *
     * @param dtype f16 or bf16
     * @throws dev.tenon.core.error.DTypeException for another
     */
    public Weights half(DType dtype) {
        return new Weights(tensors, HalfStore.checked(dtype));
    }

    @Nullable
    HalfStore halfStore() {
        return half == null ? null : new HalfStore(half);
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
