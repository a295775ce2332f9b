package dev.tenon.core.ir.op.control;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import java.util.ArrayList;
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
    public TensorType type(NdArray value) {
        return value.type();
    }

    @Override
    public Loop.Stack<NdArray> stack(TensorType each, long turns) {
        if (each.shape().isConcrete()) {
            NdArray.requireHeap(Loop.stacked(each, Math.max(0, turns)));
        }
        return new Parts(each, new ArrayList<>());
    }

    private record Parts(TensorType told, List<NdArray> all) implements Loop.Stack<NdArray> {
        @Override
        public void add(NdArray part) {
            TensorType first = all.isEmpty() ? part.type() : all.getFirst().type();
            if (!part.type().equals(first)) {
                throw new DataException("loop: a scan output is " + first + " in iteration 0 and " + part.type()
                        + " in iteration " + all.size() + "; expected one shape");
            }
            all.add(part);
        }

        @Override
        public NdArray whole() {
            NdArray whole = NdArray.zeros(
                    Loop.stacked(all.isEmpty() ? told : all.getFirst().type(), all.size()));
            int at = 0;
            for (NdArray part : all) {
                for (int i = 0; i < part.size(); i++) {
                    whole.copy(at++, part, i);
                }
            }
            return whole;
        }
    }
}
