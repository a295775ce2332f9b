package dev.tenon.core.testkit;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.control.If;
import dev.tenon.core.ir.op.filling.FillTo;
import dev.tenon.core.ir.op.filling.RangeOf;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.filling.SizeOf;
import dev.tenon.core.ir.op.indexing.OneHotBy;
import dev.tenon.core.ir.op.movement.ExpandTo;
import dev.tenon.core.ir.op.movement.PadBy;
import dev.tenon.core.ir.op.movement.PadMode;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.SliceBy;
import dev.tenon.core.ir.op.movement.SplitBy;
import dev.tenon.core.ir.op.movement.SqueezeAxes;
import dev.tenon.core.ir.op.movement.TileBy;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import dev.tenon.core.ir.op.reduction.ReduceBy;
import dev.tenon.core.ir.op.reduction.TopKBy;
import java.util.ArrayList;
import java.util.List;

/** Operations that become others once some values are known. */
final class OpCasesDeferred {
    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(7);
    private final NdArray x = random.array(DType.F32, 2, 3, 4);

    private OpCasesDeferred() {}

    static List<OpCase> all() {
        OpCasesDeferred all = new OpCasesDeferred();
        all.shapes();
        all.reshapes();
        all.slices();
        all.growing();
        all.constants();
        all.others();
        all.branches();
        return List.copyOf(all.cases);
    }

    private void add(String name, Op op, NdArray... inputs) {
        cases.add(OpCase.exact(op.mnemonic() + " " + name, op, inputs));
    }

    private static NdArray vector(long... values) {
        return NdArray.ofLongs(values);
    }

    private static NdArray scalar(long value) {
        return OpCases.i64(new long[0], value);
    }

    private void shapes() {
        add("all", new ShapeOf(0, Long.MAX_VALUE), x);
        add("last", new ShapeOf(-1, Long.MAX_VALUE), x);
        add("middle", new ShapeOf(1, -1), x);
        add("clamped", new ShapeOf(-9, 9), x);
        add("none", new ShapeOf(2, 1), x);
        add("scalar", new ShapeOf(0, Long.MAX_VALUE), random.array(DType.I8));
        add("all", new SizeOf(), x);
        add("scalar", new SizeOf(), random.array(DType.BOOL));
        add("empty", new SizeOf(), NdArray.zeros(DType.F32, 3, 0));
    }

    private void reshapes() {
        add("copied and inferred", new ReshapeTo(false), x, vector(0, -1));
        add("inferred first", new ReshapeTo(false), random.array(DType.F32, 2, 2, 3, 2), vector(-1, 0, 0));
        add("allowed zero", new ReshapeTo(true), NdArray.zeros(DType.F32, 0, 3), vector(3, 0));
        add("copied zero beside inferred", new ReshapeTo(false), NdArray.zeros(DType.F32, 0, 4), vector(0, -1));
        add("to scalar", new ReshapeTo(false), random.array(DType.F32, 1, 1), NdArray.zeros(DType.I64, 0));
        NdArray thin = random.array(DType.F16, 1, 3, 1);
        add("all", new SqueezeAxes(), thin);
        add("one", new SqueezeAxes(), thin, vector(-1));
        add("none", new SqueezeAxes(), thin, NdArray.zeros(DType.I64, 0));
        add("both ends", new UnsqueezeAxes(), x, vector(-1, 0));
        add("scalar", new UnsqueezeAxes(), random.array(DType.F32), vector(0));
    }

    private void slices() {
        SliceBy plain = new SliceBy(false, false);
        SliceBy full = new SliceBy(true, true);
        add("first axes", plain, x, vector(0, 1), vector(1, 3));
        add("clamped", plain, x, vector(-9), vector(Long.MAX_VALUE));
        add("empty", plain, x, vector(2), vector(1));
        add("from the back", new SliceBy(true, false), x, vector(-3), vector(-1), vector(-1));
        add("backwards", full, x, vector(-1), vector(Long.MIN_VALUE), vector(2), vector(-1));
        add("backwards by 2", full, x, vector(9, 0), vector(-9, 2), vector(2, 0), vector(-2, 1));
        add("huge steps", full, x, vector(0, 3), vector(9, -9), vector(1, 2), vector(Long.MAX_VALUE, Long.MIN_VALUE));
        add("steps only", new SliceBy(false, true), x, vector(0, 0, 1), vector(2, 3, 4), vector(1, 2, 2));
        add("of nothing", full, NdArray.zeros(DType.F32, 0), vector(-1), vector(-9), vector(0), vector(-1));
        add("sizes", new SplitBy(-1, 3), x, vector(1, 0, 3));
        add("one", new SplitBy(0, 1), x, vector(2));
    }

    private void growing() {
        add("both ways", new ExpandTo(), random.array(DType.F32, 3, 1), vector(2, 1, 4));
        add("smaller rank", new ExpandTo(), x, vector(1));
        add("to nothing", new ExpandTo(), random.array(DType.F32, 1), vector(0));
        add("each", new TileBy(), x, vector(1, 2, 3));
        add("scalar", new TileBy(), random.array(DType.F32), NdArray.zeros(DType.I64, 0));
        add("all axes", new PadBy(PadMode.CONSTANT, false, false), x, vector(0, 1, 0, 1, 0, 2));
        add("fill", new PadBy(PadMode.CONSTANT, true, false), x, vector(0, 1, 0, 1, 0, -2), random.array(DType.F32));
        add("axes", new PadBy(PadMode.EDGE, false, true), x, vector(1, 2), vector(-1));
        for (PadMode mode : PadMode.values()) {
            PadBy pad = new PadBy(mode, false, false);
            add("cropping " + mode, pad, x, vector(0, 2, -1, 0, -1, 3));
        }
        add(
                "fill and axes",
                new PadBy(PadMode.CONSTANT, true, true),
                x,
                vector(1, 2, 0, 1),
                random.array(DType.F32),
                vector(2, 0));
    }

    private void constants() {
        FillTo two = new FillTo(new ConstantData.Splat(TensorType.of(DType.F32, 1), Elements.fromDouble(DType.F32, 2)));
        add("matrix", two, vector(3, 2));
        add("scalar", two, NdArray.zeros(DType.I64, 0));
        add("nothing", two, vector(3, 0));
        add(
                "dense element",
                new FillTo(NdArray.of(TensorType.of(DType.I8, 1), -7L).toConstant()),
                vector(5));
        RangeOf range = new RangeOf();
        add("up", range, scalar(3), scalar(9), scalar(2));
        add("down", range, scalar(10), scalar(4), scalar(-3));
        add("nothing", range, scalar(3), scalar(3), scalar(1));
        add("from the least", range, scalar(Long.MIN_VALUE), scalar(Long.MAX_VALUE), scalar(Long.MAX_VALUE));
        add("i32", range, i32Scalar(0), i32Scalar(5), i32Scalar(1));
        add("f32", range, f32Scalar(1), f32Scalar(2), f32Scalar(0.25));
        add("f32 down", range, f32Scalar(1), f32Scalar(-1.1), f32Scalar(-0.5));
    }

    private static NdArray i32Scalar(long value) {
        return NdArray.of(TensorType.of(DType.I32), value);
    }

    private static NdArray f32Scalar(double value) {
        return OpCases.f32(new long[0], value);
    }

    private void others() {
        NdArray order = random.shuffled(DType.F32, 3, 7);
        add("k", new TopKBy(-1, true, true), order, vector(3));
        add("scalar k", new TopKBy(0, false, true), order, scalar(0));
        NdArray values = OpCases.f32(0, 1);
        add("last", new OneHotBy(-1), OpCases.i32(0, 2), scalar(3), values);
        add("first", new OneHotBy(0), OpCases.i32(0, 2), vector(3), values);
        add("some", new ReduceBy(ReduceFn.MAX, true, false), x, vector(-1, 0));
        add("all", new ReduceBy(ReduceFn.MIN, false, false), x, NdArray.zeros(DType.I64, 0));
        add("none", new ReduceBy(ReduceFn.MAX, false, true), x, NdArray.zeros(DType.I64, 0));
        cases.add(OpCase.sums("reduce_by sum", 12, new ReduceBy(ReduceFn.SUM, false, false), x, vector(1, 2)));
    }

    private void branches() {
        Graph doubled = GraphBuilder.build("doubled", g -> {
            Value in = g.input("x", x.type());
            g.output("y", g.mul(in, g.scalar(DType.F32, 2)));
            g.output("x", in);
        });
        Graph shorter = GraphBuilder.build("shorter", g -> {
            Value in = g.input("x", x.type());
            g.output("y", g.slice(in, 0, 0, 1));
            g.output("x", g.scalar(DType.F32, 7));
        });
        If op = new If(doubled, shorter);
        add("then", op, NdArray.of(TensorType.of(DType.BOOL), 1L), x);
        add("else", op, NdArray.of(TensorType.of(DType.BOOL, 1), 0L), x);
    }
}
