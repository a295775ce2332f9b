package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
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
}
