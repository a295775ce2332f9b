package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.RowRegion;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.cuda.kernel.file.KernelVariant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Regions as models have them, so that what checks every kernel file sees compiled ones. */
final class SampleRegions {
    private static final Shape SHAPE = Shape.of(4, 64, 64);
    private static final Shape ROW = Shape.of(64);
    private static final Shape COLUMN = Shape.of(64, 1);

    private SampleRegions() {}

    static List<KernelVariant> variants() {
        return List.of(
                variant(sum(), DType.F32, SHAPE, SHAPE, SHAPE),
                variant(sum(), DType.BF16, SHAPE, ROW, SHAPE),
                variant(sum(), DType.F64, SHAPE, COLUMN, Shape.of(1)),
                variant(masked(), DType.I64, SHAPE),
                variant(longest(), DType.F32, Collections.nCopies(16, SHAPE).toArray(Shape[]::new)));
    }

    private static KernelVariant variant(Region region, DType type, Shape... shapes) {
        return new FusedRegion(region, SHAPE, Collections.nCopies(shapes.length, type), List.of(shapes)).variant();
    }

    private static Region sum() {
        return new Region(
                List.of(
                        new Region.Step(new Binary(BinaryFn.ADD), List.of(0, 1)),
                        new Region.Step(new Binary(BinaryFn.ADD), List.of(3, 2))),
                List.of(1));
    }

    /** Numbers of a mask in integers, and what they stand for. */
    private static Region masked() {
        return new Region(
                List.of(
                        new Region.Step(new Compare(CompareFn.GT), List.of(0, 0)),
                        new Region.Step(new Cast(DType.F32, true), List.of(0)),
                        new Region.Step(new Unary(UnaryFn.AFFINE, -3, 3), List.of(2)),
                        new Region.Step(new Where(), List.of(1, 2, 3))),
                List.of(3, 0));
    }

    /** As many inputs and steps as a region may have. */
    private static Region longest() {
        List<Region.Step> steps = new ArrayList<>();
        for (int i = 0; i < Region.MAX_STEPS; i++) {
            int last = i == 0 ? 0 : Region.MAX_INPUTS + i - 1;
            steps.add(
                    i % 4 == 3
                            ? new Region.Step(Unary.of(UnaryFn.SIGMOID), List.of(last))
                            : new Region.Step(
                                    new Binary(i % 2 == 0 ? BinaryFn.ADD : BinaryFn.MUL),
                                    List.of(last, (i + 1) % Region.MAX_INPUTS)));
        }
        return new Region(steps, List.of(Region.MAX_STEPS - 1));
    }

    /** Row regions, in every form of a row. */
    static List<KernelVariant> rows() {
        TensorType row = TensorType.of(DType.F32, 384);
        return List.of(
                dequantised(row),
                row(scaled(new Softmax(1)), DType.BF16, 200),
                row(scaled(new RmsNorm(1, 1e-5, false)), DType.F16, 1024),
                row(scaled(new Reduce(ReduceFn.MAX, List.of(1), false)), DType.F32, 4096),
                row(scaled(new LayerNorm(1, 1e-5, false, false)), DType.F64, 8192),
                row(scaled(new LayerNorm(1, 1e-5, false, false)), DType.F32, 16384));
    }

    private static KernelVariant row(RowRegion op, DType dtype, long cols) {
        List<TensorType> inputs = List.of(TensorType.of(dtype, 8, cols), TensorType.of(dtype, 8, 1));
        return new FusedRows(op, inputs).variant();
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
        return new FusedRows(op, inputs).variant();
    }
}
