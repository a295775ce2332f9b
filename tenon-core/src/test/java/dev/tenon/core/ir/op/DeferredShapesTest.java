package dev.tenon.core.ir.op;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.control.If;
import dev.tenon.core.ir.op.filling.FillTo;
import dev.tenon.core.ir.op.filling.RangeOf;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.SqueezeAxes;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import dev.tenon.core.ir.op.reduction.ReduceBy;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What deferred operations tell before their values are known, and what they refuse after. */
class DeferredShapesTest {
    private static final TensorType X = new TensorType(DType.F32, Shape.of(Dim.named("batch"), Dim.of(3), Dim.of(4)));
    private static final TensorType UNRANKED = new TensorType(DType.F32, Shape.unranked());

    private static TensorType longs(Dim count) {
        return new TensorType(DType.I64, Shape.of(count));
    }

    private static Shape shape(Op op, TensorType... inputs) {
        return op.infer(List.of(inputs)).getFirst().shape();
    }

    private static List<NdArray> run(Op op, NdArray... inputs) {
        return Interpreter.run(op, List.of(inputs));
    }

    @Test
    void ranksFromTheLengthsOfVectors() {
        assertThat(shape(new ReshapeTo(false), X, longs(Dim.of(2)))).isEqualTo(Shape.unknown(2));
        assertThat(shape(new ReshapeTo(false), UNRANKED, longs(Dim.of(2)))).isEqualTo(Shape.unknown(2));
        assertThat(shape(new ReshapeTo(false), X, longs(Dim.unknown())).isRanked())
                .isFalse();
        assertThat(shape(new UnsqueezeAxes(), X, longs(Dim.of(2)))).isEqualTo(Shape.unknown(5));
        assertThat(shape(new SqueezeAxes(), X, longs(Dim.of(1)))).isEqualTo(Shape.unknown(2));
        assertThat(shape(new ReduceBy(ReduceFn.SUM, false, false), X, longs(Dim.of(0))))
                .isEqualTo(Shape.scalar());
        assertThat(shape(new ReduceBy(ReduceFn.SUM, true, true), X, longs(Dim.of(0))))
                .isEqualTo(X.shape());
        assertThat(shape(new ShapeOf(-2, Long.MAX_VALUE), X)).isEqualTo(Shape.of(2));
        assertThat(shape(new ShapeOf(0, 1), UNRANKED)).isEqualTo(Shape.unknown(1));
        assertThatThrownBy(() -> shape(new ReshapeTo(false), X, longs(Dim.of(1L << 40))))
                .isInstanceOf(ShapeException.class);
    }

    @Test
    void reshapeInfersWithNamedDims() {
        assertThat(shape(new Reshape(List.of(-1L, 12L)), X)).isEqualTo(Shape.of(Dim.named("batch"), Dim.of(12)));
        assertThat(shape(new Reshape(List.of(-1L, 4L)), X)).isEqualTo(Shape.of(Dim.unknown(), Dim.of(4)));
        assertThatThrownBy(() -> shape(new Reshape(List.of(5L, 7L)), X)).isInstanceOf(ShapeException.class);
    }

    @Test
    void reshapeRefusesWhatDoesNotSettle() {
        NdArray none = NdArray.zeros(DType.F32, 0, 4);
        assertThatThrownBy(() -> run(new ReshapeTo(true), none, NdArray.ofLongs(0, -1)))
                .isInstanceOf(ShapeException.class);
        assertThatThrownBy(() -> run(new ReshapeTo(false), NdArray.zeros(DType.F32, 0, 3), NdArray.ofLongs(3, 0)))
                .isInstanceOf(ShapeException.class);
    }

    @Test
    void rangesAreBounded() {
        NdArray zero = NdArray.of(TensorType.of(DType.I64), 0L);
        NdArray one = NdArray.of(TensorType.of(DType.I64), 1L);
        NdArray huge = NdArray.of(TensorType.of(DType.I64), Long.MAX_VALUE);
        assertThatThrownBy(() -> run(new RangeOf(), zero, huge, one)).isInstanceOf(UnsupportedException.class);
        assertThatThrownBy(() -> run(new RangeOf(), zero, huge, zero)).isInstanceOf(DataException.class);
    }

    @Test
    void fillsOfAnySizeCostNothing() {
        Graph graph = GraphBuilder.build("fill", g -> {
            FillTo fill =
                    new FillTo(new ConstantData.Splat(TensorType.of(DType.F32), Elements.fromDouble(DType.F32, 2)));
            NdArray sizes = NdArray.ofLongs(32768, 32768);
            Value wanted = g.constant(sizes.toConstant());
            g.output(
                    "y",
                    fill.resolve(g, List.of(wanted), Known.of(List.of(sizes))).getFirst());
        });
        assertThat(graph.outputs().sequencedValues().getFirst().type())
                .isEqualTo(TensorType.of(DType.F32, 32768, 32768));
        assertThat(graph.constants().getFirst().origin())
                .isInstanceOfSatisfying(
                        Value.Origin.Constant.class,
                        c -> assertThat(c.data().heldBytes()).isEqualTo(8));
    }

    @Test
    void branchesAgreeOnWhatTheyCan() {
        Graph three = GraphBuilder.build(
                "three",
                g -> g.output("y", g.constant(NdArray.zeros(DType.F32, 2, 3).toConstant())));
        Graph four = GraphBuilder.build(
                "four",
                g -> g.output("y", g.constant(NdArray.zeros(DType.F32, 2, 4).toConstant())));
        Graph flat = GraphBuilder.build(
                "flat",
                g -> g.output("y", g.constant(NdArray.zeros(DType.F32, 2).toConstant())));
        Graph whole = GraphBuilder.build(
                "whole",
                g -> g.output("y", g.constant(NdArray.zeros(DType.I64, 2).toConstant())));
        TensorType condition = TensorType.of(DType.BOOL);
        assertThat(shape(new If(three, four), condition)).isEqualTo(Shape.of(Dim.of(2), Dim.unknown()));
        assertThat(shape(new If(three, flat), condition).isRanked()).isFalse();
        assertThatThrownBy(() -> shape(new If(flat, whole), condition)).isInstanceOf(DTypeException.class);
    }
}
