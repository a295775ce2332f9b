package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** One matrix product for each group of consecutive rows: row r of expert e's rows is multiplied by weights[e]. [tokens [T,K], weights [E,K,N], counts [E] i32/i64, which sum to T] -> [T,N]. */
public record GroupedMatMul() implements Primitive {
    @Override
    public Arity arity() {
        return Arity.exactly(3);
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
