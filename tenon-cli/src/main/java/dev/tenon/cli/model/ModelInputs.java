package dev.tenon.cli.model;

import dev.tenon.core.error.DataException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/** Inputs for a model that was given none: floats uniform in [-1, 1), masks and other integers 1, booleans true. */
public final class ModelInputs {
    private ModelInputs() {}

    /** The names of the dims that vary, in the order they are met. */
    public static Set<String> dims(List<Value> inputs) {
        Set<String> names = new LinkedHashSet<>();
        for (Value input : inputs) {
            if (input.shape().isRanked()) {
                input.shape().dims().forEach(dim -> {
                    if (dim instanceof Dim.Named(String name)) {
                        names.add(name);
                    }
                });
            }
        }
        return names;
    }

    /**
     * A tensor for each input, named dims as given and 1 where they are not.
     *
     * @throws InputException for a dim that no input has
     */
    public static Map<String, Tensor> generate(List<Value> inputs, Map<String, Long> dims) {
        return complete(inputs, Map.of(), dims);
    }

    /**
     * What is given, and generated tensors for the other inputs, whose named dims have the given tensors' sizes where
     * none is asked for.
     *
     * @throws InputException for a dim that no input has
     */
    static Map<String, Tensor> complete(List<Value> inputs, Map<String, Tensor> given, Map<String, Long> dims) {
        check(dims, dims(inputs));
        Map<String, Long> sizes = sizes(inputs, given, dims);
        Map<String, Tensor> tensors = new LinkedHashMap<>(given);
        SplittableRandom random = new SplittableRandom(1);
        for (Value input : inputs) {
            if (!given.containsKey(input.name())) {
                tensors.put(input.name(), generate(input, sizes, random));
            }
        }
        return tensors;
    }

    /**
     * Runs a model on inputs of which some were generated. The message of a failure that may come from their sizes
     * names the dims that were taken as 1.
     *
     * @param all what {@link #complete} made of {@code given} and {@code dims}
     */
    public static Map<String, Tensor> run(
            Session session,
            List<Value> inputs,
            Map<String, Tensor> all,
            Map<String, Tensor> given,
            Map<String, Long> dims) {
        try {
            return session.run(all);
        } catch (ShapeException | DataException | UnsupportedException e) {
            List<String> guessed = guessed(inputs, given, dims);
            if (guessed.isEmpty()) {
                throw e;
            }
            throw new InputException(
                    e.getMessage() + "; no size was given for " + String.join(", ", guessed)
                            + ", so 1 was taken; give one with --dim " + guessed.getFirst() + "=N",
                    e);
        }
    }

    /** The dims whose size is neither given nor that of a given tensor. */
    private static List<String> guessed(List<Value> inputs, Map<String, Tensor> given, Map<String, Long> dims) {
        Map<String, Long> sizes = sizes(inputs, given, dims);
        return dims(inputs).stream().filter(name -> !sizes.containsKey(name)).toList();
    }

    /** The size of each named dim: as asked for, else that of a given tensor, else 1. */
    static Map<String, Long> allSizes(List<Value> inputs, Map<String, Tensor> given, Map<String, Long> dims) {
        Set<String> names = dims(inputs);
        check(dims, names);
        Map<String, Long> sizes = sizes(inputs, given, dims);
        names.forEach(name -> sizes.putIfAbsent(name, 1L));
        return sizes;
    }

    private static Map<String, Long> sizes(List<Value> inputs, Map<String, Tensor> given, Map<String, Long> dims) {
        Map<String, Long> sizes = new LinkedHashMap<>(dims);
        for (Value input : inputs) {
            Tensor tensor = given.get(input.name());
            if (tensor != null) {
                addSizes(input.shape(), tensor.shape(), sizes);
            }
        }
        return sizes;
    }

    private static void check(Map<String, Long> dims, Set<String> known) {
        for (Map.Entry<String, Long> dim : dims.entrySet()) {
            if (!known.contains(dim.getKey())) {
                throw new InputException("no input has a dim \"" + dim.getKey() + "\"; there are: " + known);
            }
        }
    }

    /** A tensor of another rank says nothing; the run refuses it. */
    private static void addSizes(Shape declared, Shape given, Map<String, Long> sizes) {
        for (int axis = 0; declared.isRanked() && axis < declared.rank() && axis < given.rank(); axis++) {
            if (declared.dim(axis) instanceof Dim.Named(String name)) {
                sizes.putIfAbsent(name, given.size(axis));
            }
        }
    }

    private static Tensor generate(Value input, Map<String, Long> dims, SplittableRandom random) {
        if (!input.shape().isRanked()) {
            throw new InputException("input \"" + input.name() + "\" declares no shape; give it with --input "
                    + input.name() + "=FILE.npy");
        }
        List<Dim> sizes = new ArrayList<>();
        for (Dim dim : input.shape().dims()) {
            sizes.add(dim.isFixed() ? dim : Dim.of(dims.getOrDefault(dim.toString(), 1L)));
        }
        DType dtype = input.dtype();
        Tensor tensor = Tensor.zeros(new TensorType(dtype, Shape.of(sizes)));
        for (long i = 0; i < tensor.elements(); i++) {
            dev.tenon.core.ir.Elements.setDouble(
                    dtype, tensor.segment(), i, dtype.isFloat() ? random.nextDouble(-1, 1) : 1);
        }
        return tensor;
    }
}
