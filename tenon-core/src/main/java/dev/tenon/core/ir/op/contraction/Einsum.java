package dev.tenon.core.ir.op.contraction;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Sum of products by index letters, as numpy's einsum with explicit or implicit result; decomposes to transposes,
 * reshapes, MatMul and Reduce. [x...].
 *
 * <p>An index is summed over unless the result has it; a letter twice in an operand is its diagonal; an ellipsis stands
 * for dims that broadcast; dims of 1 broadcast too. Operands have one numeric type, which the result has. Operands are
 * taken from left to right: of two, each index that only one of them has and nobody needs later is summed first, then a
 * batched matrix product sums the indices they share, or a product of elements where there are none. ONNX Einsum-12.
 */
public record Einsum(String equation) implements Composite {
    public Einsum {
        EinsumEquation.parse(equation);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(EinsumEquation.parse(equation).terms().size());
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameNumeric(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        EinsumEquation parsed = EinsumEquation.parse(equation);
        Map<Integer, Dim> dims = parsed.dims(inputs);
        return List.of(Shape.of(parsed.resultLabels(inputs).stream()
                .map(label -> dims.getOrDefault(label, Dim.of(1)))
                .toList()));
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        EinsumEquation parsed = EinsumEquation.parse(equation);
        List<Shape> shapes = inputs.stream().map(Value::shape).toList();
        List<List<Integer>> labels = parsed.operandLabels(shapes);
        List<Integer> result = parsed.resultLabels(shapes);
        Operand product = null;
        for (int i = 0; i < inputs.size(); i++) {
            Set<Integer> later = new HashSet<>(result);
            labels.subList(i + 1, labels.size()).forEach(later::addAll);
            Operand next = new Operand(g, inputs.get(i), labels.get(i)).diagonal();
            product = product == null ? next.keep(later) : product.times(next, later);
        }
        return List.of(Objects.requireNonNull(product).keep(Set.copyOf(result)).ordered(result).value);
    }

    /** A value whose dims have labels; each method adds operations and answers the result. */
    private record Operand(OpBuilder g, Value value, List<Integer> labels) {
        private long size(int label) {
            return value.shape().size(labels.indexOf(label));
        }

        private long product(List<Integer> some) {
            return some.stream().mapToLong(this::size).reduce(1, Math::multiplyExact);
        }

        /** Dims of one label become one. */
        Operand diagonal() {
            for (int second = 0; second < labels.size(); second++) {
                int first = labels.indexOf(labels.get(second));
                if (first < second) {
                    return diagonal(first, second).diagonal();
                }
            }
            return this;
        }

        private Operand diagonal(int first, int second) {
            List<Integer> permutation = new ArrayList<>(IntStream.range(0, labels.size())
                    .filter(axis -> axis != first && axis != second)
                    .boxed()
                    .toList());
            List<Integer> rest = permutation.stream().map(labels::get).toList();
            List<Long> sizes = new ArrayList<>(
                    permutation.stream().map(axis -> value.shape().size(axis)).toList());
            permutation.addAll(List.of(first, second));
            long size = value.shape().size(first);
            Expect.shape(
                    size == value.shape().size(second),
                    "einsum",
                    () -> "an index that an operand has twice needs dims of one size: " + value.shape());
            // the diagonal of an n x n matrix is every (n + 1)th of its elements
            Value flat = reshape(transpose(value, permutation), appended(sizes, size * size));
            List<Long> starts = Collections.nCopies(rest.size() + 1, 0L);
            List<Long> steps = appended(Collections.nCopies(rest.size(), 1L), size + 1);
            Value picked = g.add(new Slice(starts, appended(sizes, size), steps), flat);
            return new Operand(g, picked, appended(rest, labels.get(first)));
        }

        private static <T> List<T> appended(List<T> list, T last) {
            List<T> all = new ArrayList<>(list);
            all.add(last);
            return all;
        }

        /** Sums over the dims of all other labels. */
        Operand keep(Set<Integer> needed) {
            List<Integer> summed = IntStream.range(0, labels.size())
                    .filter(axis -> !needed.contains(labels.get(axis)))
                    .boxed()
                    .toList();
            return summed.isEmpty()
                    ? this
                    : new Operand(
                            g,
                            g.add(new Reduce(ReduceFn.SUM, summed, false), value),
                            labels.stream().filter(needed::contains).toList());
        }

        /** Drops dims of 1 whose label the other has with more: they broadcast. */
        private Operand dropBroadcast(Operand other) {
            List<Integer> kept = labels.stream()
                    .filter(label -> size(label) != 1 || !other.labels.contains(label) || other.size(label) == 1)
                    .toList();
            return new Operand(g, reshape(value, kept.stream().map(this::size).toList()), kept);
        }

        /** The product with another operand, summed over every label that is not needed later. */
        Operand times(Operand given, Set<Integer> needed) {
            Operand a = dropBroadcast(given);
            Operand b = given.dropBroadcast(this);
            Set<Integer> wantedOfA = new HashSet<>(needed);
            wantedOfA.addAll(b.labels);
            Set<Integer> wantedOfB = new HashSet<>(needed);
            wantedOfB.addAll(a.labels);
            return a.keep(wantedOfA).contract(b.keep(wantedOfB), needed);
        }

        private Operand contract(Operand b, Set<Integer> needed) {
            List<Integer> shared = labels.stream().filter(b.labels::contains).toList();
            List<Integer> batch = shared.stream().filter(needed::contains).toList();
            List<Integer> inner =
                    shared.stream().filter(label -> !needed.contains(label)).toList();
            List<Integer> rows =
                    labels.stream().filter(label -> !shared.contains(label)).toList();
            List<Integer> columns =
                    b.labels.stream().filter(label -> !shared.contains(label)).toList();
            List<Integer> result = joined(batch, rows, columns);
            List<Long> sizes = result.stream()
                    .map(label -> labels.contains(label) ? size(label) : b.size(label))
                    .toList();
            if (inner.isEmpty()) {
                return new Operand(g, g.add(new Binary(BinaryFn.MUL), spread(result), b.spread(result)), result);
            }
            Value left = reshape(
                    ordered(joined(batch, rows, inner)).value, List.of(product(batch), product(rows), product(inner)));
            Value right = reshape(
                    b.ordered(joined(batch, inner, columns)).value,
                    List.of(product(batch), product(inner), b.product(columns)));
            return new Operand(g, reshape(g.add(MatMul.plain(), left, right), sizes), result);
        }

        /** Under the labels of a result, with dims of 1 for those it does not have. */
        private Value spread(List<Integer> result) {
            List<Integer> own = result.stream().filter(labels::contains).toList();
            return reshape(
                    ordered(own).value,
                    result.stream()
                            .map(label -> labels.contains(label) ? size(label) : 1L)
                            .toList());
        }

        Operand ordered(List<Integer> order) {
            return new Operand(
                    g, transpose(value, order.stream().map(labels::indexOf).toList()), order);
        }

        private static List<Integer> joined(List<Integer> first, List<Integer> second, List<Integer> third) {
            return Stream.of(first, second, third).flatMap(List::stream).toList();
        }

        private Value transpose(Value x, List<Integer> permutation) {
            return permutation.equals(
                            IntStream.range(0, permutation.size()).boxed().toList())
                    ? x
                    : g.add(new Transpose(permutation), x);
        }

        private Value reshape(Value x, List<Long> sizes) {
            return Shape.ofSizes(sizes).equals(x.shape()) ? x : g.add(new Reshape(sizes), x);
        }
    }
}
