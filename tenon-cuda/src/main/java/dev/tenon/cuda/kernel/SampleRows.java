package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.RowRegion;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.List;

/** Row regions as models have them, in every form of a row, so that what checks kernel files sees compiled ones. */
final class SampleRows {
    private SampleRows() {}

    static List<KernelVariant> variants() {
        TensorType row = TensorType.of(DType.F32, 384);
        return List.of(
                dequantised(row),
                variant(scaled(new Softmax(1)), DType.BF16, 200),
                variant(scaled(new RmsNorm(1, 1e-5, false)), DType.F16, 1024),
                variant(scaled(new Reduce(ReduceFn.MAX, List.of(1), false)), DType.F32, 4096),
                variant(scaled(new LayerNorm(1, 1e-5, false, false)), DType.F64, 8192),
                variant(scaled(new LayerNorm(1, 1e-5, false, false)), DType.F32, 16384));
    }

    private static KernelVariant variant(RowRegion op, DType dtype, long cols) {
        List<TensorType> inputs = List.of(TensorType.of(dtype, 8, cols), TensorType.of(dtype, 8, 1));
        return new FusedRows(op, inputs, op.infer(inputs).getFirst()).variant();
    }

    private static RowRegion scaled(Primitive row) {
        Region before = new Region(List.of(new Region.Step(new Binary(BinaryFn.MUL), List.of(0, 1))), List.of(0));
        Region after = new Region(List.of(new Region.Step(Unary.of(UnaryFn.TANH), List.of(0))), List.of(0));
        return new RowRegion(2, before, row, after);
    }

    /** The norm of an integer product with its scale and bias, and a residual. */
    private static KernelVariant dequantised(TensorType row) {
        Region before = new Region(
                List.of(
                        new Region.Step(new Cast(DType.F32, true), List.of(0)),
                        new Region.Step(new Binary(BinaryFn.MUL), List.of(4, 1)),
                        new Region.Step(new Binary(BinaryFn.ADD), List.of(5, 2)),
                        new Region.Step(new Binary(BinaryFn.ADD), List.of(6, 3))),
                List.of(3));
        RowRegion op = new RowRegion(4, before, new LayerNorm(1, 1e-12, true, true), null);
        TensorType x = TensorType.of(DType.F32, 128, 384);
        List<TensorType> inputs =
                List.of(TensorType.of(DType.I32, 128, 384), TensorType.of(DType.F32), row, x, row, row);
        return new FusedRows(op, inputs, x).variant();
    }
}
