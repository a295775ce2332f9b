package dev.tenon.core.ir.op;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Loops in the interpreter. */
record ArrayMachine(Graph body) implements Loop.Machine<NdArray> {
    @Override
    public NdArray number(long value) {
        return NdArray.of(TensorType.of(DType.I64), value);
    }

    @Override
    public NdArray flag(boolean value) {
        return NdArray.of(TensorType.of(DType.BOOL), value ? 1L : 0L);
    }

    @Override
    public long toLong(NdArray value) {
        return value.getLong(0);
    }

    @Override
    public List<NdArray> body(List<NdArray> inputs) {
        Map<String, NdArray> named = new HashMap<>();
        for (int i = 0; i < inputs.size(); i++) {
            named.put(body.inputs().get(i).name(), inputs.get(i));
        }
        return List.copyOf(Interpreter.run(body, named).values());
    }

    @Override
    public NdArray stack(List<NdArray> parts, TensorType empty) {
        if (parts.isEmpty()) {
            return NdArray.zeros(empty);
        }
        TensorType each = parts.getFirst().type();
        int size = parts.getFirst().size();
        Shape shape = Shape.of(Dim.of(parts.size())).concat(each.shape());
        NdArray all = NdArray.zeros(new TensorType(each.dtype(), shape));
        for (int i = 0; i < parts.size(); i++) {
            checkSame(each, parts.get(i).type(), i);
            for (int k = 0; k < size; k++) {
                all.copy(i * size + k, parts.get(i), k);
            }
        }
        return all;
    }

    private static void checkSame(TensorType first, TensorType type, int iteration) {
        if (!type.equals(first)) {
            throw new DataException("loop: a scan output is " + first + " in iteration 0 and " + type + " in iteration "
                    + iteration + "; expected one shape");
        }
    }
}
