package dev.tenon.core.ir.op.elementwise;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiFunction;

/**
 * Several elementwise operations in one pass: all inputs broadcast against each other, each step reads inputs and
 * earlier steps, and the steps named by {@code results} (the first step is 0) are the outputs, all of the broadcast
 * shape. Made by fusion.
 *
 * <p>[x...] → one result for each of {@code results}. Types follow from each step's own rule.
 */
public record Region(List<Region.Step> steps, List<Integer> results) implements Primitive {
    /** The most steps and inputs a region has: what the generated kernels keep in registers and pass as arguments. */
    public static final int MAX_STEPS = 64;

    public static final int MAX_INPUTS = 16;

    public Region {
        steps = List.copyOf(steps);
        results = List.copyOf(results);
        if (steps.isEmpty() || steps.size() > MAX_STEPS) {
            throw new ShapeException("region: has " + steps.size() + " steps; expected 1 to " + MAX_STEPS);
        }
        if (results.isEmpty()) {
            throw new ShapeException("region: has no results; expected one or more");
        }
        for (int step : results) {
            if (step < 0 || step >= steps.size()) {
                throw new ShapeException("region: result names step " + step + "; expected 0 to " + (steps.size() - 1));
            }
        }
    }

    /** One elementwise operation; arguments below the number of inputs are inputs, the others are earlier steps. */
    public record Step(Elementwise op, List<Integer> arguments) {
        public Step {
            arguments = List.copyOf(arguments);
            if (arguments.size() != op.arity().min()) {
                throw new ShapeException("region: step " + op.mnemonic() + " has " + arguments.size()
                        + " arguments; expected " + op.arity().min());
            }
        }
    }

    @Override
    public Arity arity() {
        return new Arity(1, MAX_INPUTS);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        List<DType> known = run(inputs, (op, arguments) -> op.dtypes(arguments).getFirst());
        return results.stream().map(step -> known.get(inputs.size() + step)).toList();
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return Collections.nCopies(results.size(), Rules.broadcast(mnemonic(), inputs));
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        Shape shape = Rules.results(this, inputs).getFirst().shape();
        List<NdArray> whole =
                inputs.stream().map(input -> Indexing.broadcast(input, shape)).toList();
        List<NdArray> known =
                run(whole, (op, arguments) -> op.evaluate(arguments).getFirst());
        return results.stream().map(step -> known.get(inputs.size() + step)).toList();
    }

    /** The inputs and after them what each step gives. */
    private <T> List<T> run(List<T> inputs, BiFunction<Elementwise, List<T>, T> apply) {
        List<T> known = new ArrayList<>(inputs);
        for (Step step : steps) {
            List<T> arguments = new ArrayList<>();
            for (int argument : step.arguments()) {
                if (argument < 0 || argument >= known.size()) {
                    throw new ShapeException("region: step " + (known.size() - inputs.size()) + " reads argument "
                            + argument + "; expected 0 to " + (known.size() - 1));
                }
                arguments.add(known.get(argument));
            }
            known.add(apply.apply(step.op(), arguments));
        }
        return known;
    }
}
