package dev.tenon.core.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.PlainGraphBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.SliceBy;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Slices with known dims take their sizes from these; {@link NamedSizesTest} has reshapes and expansions. */
class ResizingTest {
    private static final Shape ROWS = Shape.of(Dim.named("n"), Dim.of(3));

    private static Value longs(PlainGraphBuilder g, long... values) {
        return g.constant(NdArray.ofLongs(values).toConstant());
    }

    /** A slice of a table [8, 3] to the end that an input says. */
    private static Resizing slice(Shape result, long[] starts, long[] axes, long[] steps) {
        PlainGraphBuilder g = new PlainGraphBuilder("slice");
        Value x = g.input("x", DType.F32, 8, 3);
        Value ends = g.input("ends", DType.I64, starts.length);
        Value sliced = g.addTyped(
                        "slice",
                        new SliceBy(true, true),
                        List.of(x, longs(g, starts), ends, longs(g, axes), longs(g, steps)),
                        List.of("y"),
                        List.of(new TensorType(DType.F32, result)))
                .getFirst();
        return Resizing.of(producer(sliced));
    }

    private static Node producer(Value value) {
        return ((Value.Origin.Result) value.origin()).node();
    }

    private static long[] of(long... values) {
        return values;
    }

    @Test
    void sliceFromAConstantPlaceOnTakesItsSizesFromItsResult() {
        Resizing resizing = Objects.requireNonNull(slice(ROWS, of(2), of(-2), of(1)));
        assertThat(resizing.to(of(5, 3))).isEqualTo(new Slice(List.of(2L, 0L), List.of(5L, 3L), List.of(1L, 1L)));
    }

    @Test
    void placesCountedFromTheEndNeedSizes() {
        assertThat(slice(ROWS, of(-2), of(0), of(1))).isNull();
    }

    @Test
    void stepsNeedSizes() {
        assertThat(slice(ROWS, of(0), of(0), of(2))).isNull();
        assertThat(slice(ROWS, of(7), of(0), of(-1))).isNull();
    }

    @Test
    void invalidAxesAreLeftToThePlanToReport() {
        assertThat(slice(ROWS, of(0, 0), of(0, -2), of(1, 1))).isNull();
        assertThat(slice(ROWS, of(0), of(2), of(1))).isNull();
    }

    @Test
    void emptySliceIsLeftToThePlan() {
        assertThat(slice(Shape.of(Dim.named("n"), Dim.of(0)), of(4), of(1), of(1)))
                .isNull();
    }

    @Test
    void placesThatARunSaysAreLeftToThePlan() {
        PlainGraphBuilder g = new PlainGraphBuilder("slice");
        Value x = g.input("x", DType.F32, 8, 3);
        Value at = g.input("at", DType.I64, 1);
        Value sliced = g.addTyped(
                        "slice",
                        new SliceBy(false, false),
                        List.of(x, at, at),
                        List.of("y"),
                        List.of(new TensorType(DType.F32, ROWS)))
                .getFirst();
        assertThat(Resizing.of(producer(sliced))).isNull();
    }
}
