package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** Matrix product over the last two dims, batched and broadcast over the others (numpy matmul; vectors are the importer's business, both ranks are at least 2), each operand transposed in its last two dims on request, then the epilogue. [a, b, bias?, residual?]. */
public record MatMul(boolean transposeA, boolean transposeB, Epilogue epilogue) implements Primitive {
    @Override
    public Arity arity() {
        return new Arity(2, 4);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        throw Unwritten.rule(this);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        throw Unwritten.rule(this);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        throw Unwritten.rule(this);
    }
}
