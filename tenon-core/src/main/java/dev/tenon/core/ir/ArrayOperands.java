package dev.tenon.core.ir;

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
        return inputs.get(input).get(SizeMath.toInt("element index", element));
    }

    @Override
    public long getLong(int input, long element) {
        return inputs.get(input).getLong(SizeMath.toInt("element index", element));
    }

    @Override
    public void set(int result, long element, double value) {
        results.get(result).set(SizeMath.toInt("element index", element), value);
    }

    @Override
    public void setLong(int result, long element, long value) {
        results.get(result).set(SizeMath.toInt("element index", element), value);
    }
}
