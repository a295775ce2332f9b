package dev.tenon.core.ir.op.searching;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.IntegerMath;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Which slices of an axis are different, see {@link Unique}; what stands behind the different ones is 0.
 *
 * <p>[x [..., n, ...]] → [index of the first of each i64 [n], which one each slice is i64 [n], how often each is there
 * i64 [n], count i64 []].
 */
public record UniqueIndices(int axis, boolean sorted) implements InUnits {
    public UniqueIndices {
        Rules.fromFront("unique", axis);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(DType.I64, DType.I64, DType.I64, DType.I64);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.axis(mnemonic(), axis, inputs.getFirst());
        Shape slices = Shape.of(inputs.getFirst().dim(axis));
        return List.of(slices, slices, slices, Shape.scalar());
    }

    @Override
    public long units(List<TensorType> inputs) {
        return 1;
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        return inputs.getFirst().shape().elements();
    }

    @Override
    public void compute(Operands at, long from, long to) {
        int slices = SizeMath.toInt("unique", at.input(0).shape().size(axis));
        Comparator<Integer> order = (a, b) -> compare(at, a, b);
        // the sort is stable, so each run of equals begins with its first
        List<Integer> all = IntStream.range(0, slices).boxed().sorted(order).toList();
        List<List<Integer>> groups = new ArrayList<>();
        for (int i = 0; i < slices; i++) {
            if (i == 0 || order.compare(all.get(i - 1), all.get(i)) != 0) {
                groups.add(new ArrayList<>());
            }
            groups.getLast().add(all.get(i));
        }
        if (!sorted) {
            groups.sort(Comparator.comparing(List::getFirst));
        }
        for (int i = 0; i < slices; i++) {
            List<Integer> group = i < groups.size() ? groups.get(i) : List.of();
            at.setLong(0, i, group.isEmpty() ? 0 : group.getFirst());
            at.setLong(2, i, group.size());
            for (int slice : group) {
                at.setLong(1, slice, i);
            }
        }
        at.setLong(3, 0, groups.size());
    }

    private int compare(Operands at, int a, int b) {
        TensorType type = at.input(0);
        Shape x = type.shape();
        long inner = x.elements(axis + 1, x.rank());
        long outer = x.elements(0, axis);
        long block = x.elements(axis, x.rank());
        for (long i = 0; i < outer * inner; i++) {
            long lane = i / inner * block + i % inner;
            int order = order(at, type.dtype(), lane + a * inner, lane + b * inner);
            if (order != 0) {
                return order;
            }
        }
        return 0;
    }

    private static int order(Operands at, DType dtype, long a, long b) {
        if (!dtype.isFloat()) {
            return IntegerMath.order(dtype, at.getLong(0, a), at.getLong(0, b));
        }
        double one = at.get(0, a);
        double other = at.get(0, b);
        return one == other ? 0 : Double.compare(one, other);
    }
}
