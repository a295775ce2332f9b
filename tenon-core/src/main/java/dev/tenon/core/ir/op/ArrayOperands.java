package dev.tenon.core.ir.op;

import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import java.util.List;

/** Operands on the heap. */
record ArrayOperands(List<NdArray> inputs, List<NdArray> results) implements InUnits.Operands {
    @Override
    public TensorType input(int index) {
        return inputs.get(index).type();
    }

    @Override
    public TensorType result(int index) {
        return results.get(index).type();
    }

    @Override
    public double get(int input, long element) {
        return inputs.get(input).get(Math.toIntExact(element));
    }

    @Override
    public long getLong(int input, long element) {
        return inputs.get(input).getLong(Math.toIntExact(element));
    }

    @Override
    public void set(int result, long element, double value) {
        results.get(result).set(Math.toIntExact(element), value);
    }

    @Override
    public void setLong(int result, long element, long value) {
        results.get(result).set(Math.toIntExact(element), value);
    }
}
