package dev.tenon.core.ir.op.movement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.op.image.DepthToSpace;
import dev.tenon.core.ir.op.image.SpaceToDepth;
import dev.tenon.core.ir.op.indexing.GatherElements;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.indexing.OneHot;
import dev.tenon.core.ir.op.indexing.ScatterNd;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Where elements end up, worked out by hand. */
class MovementCasesTest {
    private static NdArray counting(long... sizes) {
        NdArray array = NdArray.zeros(DType.I64, sizes);
        for (int i = 0; i < array.size(); i++) {
            array.set(i, (long) i);
        }
        return array;
    }

    private static long[] run(Op op, NdArray... inputs) {
        return Interpreter.run(op, List.of(inputs)).getFirst().toLongs();
    }

    @Test
    void transposes() {
        assertThat(run(new Transpose(List.of(1, 0)), counting(2, 3))).containsExactly(0, 3, 1, 4, 2, 5);
        assertThat(run(new Transpose(List.of(2, 0, 1)), counting(2, 1, 3))).containsExactly(0, 3, 1, 4, 2, 5);
    }

    @Test
    void slices() {
        Slice corners = new Slice(List.of(1L, 2L), List.of(2L, 2L), List.of(-1L, -2L));
        assertThat(run(corners, counting(2, 3))).containsExactly(5, 3, 2, 0);
        assertThat(run(new SliceBy(false, false), counting(5), NdArray.ofLongs(-3), NdArray.ofLongs(-1)))
                .containsExactly(2, 3);
    }

    @Test
    void pads() {
        NdArray x = NdArray.ofLongs(1, 2, 3);
        List<Long> two = List.of(2L);
        assertThat(run(new Pad(PadMode.CONSTANT, two, two), x)).containsExactly(0, 0, 1, 2, 3, 0, 0);
        assertThat(run(new Pad(PadMode.REFLECT, two, two), x)).containsExactly(3, 2, 1, 2, 3, 2, 1);
        assertThat(run(new Pad(PadMode.EDGE, two, two), x)).containsExactly(1, 1, 1, 2, 3, 3, 3);
        assertThat(run(new Pad(PadMode.WRAP, two, two), x)).containsExactly(2, 3, 1, 2, 3, 1, 2);
        assertThat(run(new Pad(PadMode.CONSTANT, List.of(-1L), List.of(1L)), x)).containsExactly(2, 3, 0);
    }

    @Test
    void negativePadsCropBeforeAnythingIsCopied() {
        NdArray x = NdArray.ofLongs(1, 2, 3, 4, 5);
        assertThat(padded(PadMode.WRAP, x, 2, -1)).containsExactly(3, 4, 1, 2, 3, 4);
        assertThat(padded(PadMode.WRAP, x, -1, 2)).containsExactly(2, 3, 4, 5, 2, 3);
        assertThat(padded(PadMode.REFLECT, x, -3, 2)).containsExactly(4, 5, 4, 5);
        assertThat(padded(PadMode.EDGE, x, -1, 1)).containsExactly(2, 3, 4, 5, 5);
        assertThat(padded(PadMode.EDGE, x, -2, -2)).containsExactly(3);
        assertThat(padded(PadMode.EDGE, x, -2, -3)).isEmpty();
        assertThatThrownBy(() -> padded(PadMode.WRAP, x, -3, -3))
                .isInstanceOf(ShapeException.class)
                .hasMessageContainingAll("pad", "-3", "[5]");
        assertThatThrownBy(() -> padded(PadMode.WRAP, x, Long.MIN_VALUE, 1)).isInstanceOf(ShapeException.class);
        assertThatThrownBy(() -> new Pad(PadMode.EDGE, List.of(-1L), List.of(0L)))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("edge");
    }

    private static long[] padded(PadMode mode, NdArray x, long before, long after) {
        return run(new PadBy(mode, false, false), x, NdArray.ofLongs(before, after));
    }

    @Test
    void triangles() {
        assertThat(run(new Trilu(true, 1), counting(3, 3))).containsExactly(0, 1, 2, 0, 0, 5, 0, 0, 0);
        assertThat(run(new Trilu(false, -1), counting(3, 3))).containsExactly(0, 0, 0, 3, 0, 0, 6, 7, 0);
    }

    @Test
    void tilesAndSplits() {
        assertThat(run(new Tile(List.of(2L, 2L)), counting(1, 2))).containsExactly(0, 1, 0, 1, 0, 1, 0, 1);
        List<NdArray> pieces = Interpreter.run(new Split(1, List.of(1L, 2L)), List.of(counting(2, 3)));
        assertThat(pieces.get(0).toLongs()).containsExactly(0, 3);
        assertThat(pieces.get(1).toLongs()).containsExactly(1, 2, 4, 5);
    }

    /** Channels 0 to 3 of one pixel become a square; the two modes differ in where c stands. */
    @Test
    void pixels() {
        NdArray x = counting(1, 8, 1, 1);
        assertThat(run(new DepthToSpace(2, false), x)).containsExactly(0, 2, 4, 6, 1, 3, 5, 7);
        assertThat(run(new DepthToSpace(2, true), x)).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
        assertThat(run(new SpaceToDepth(2), counting(1, 1, 2, 4))).containsExactly(0, 2, 1, 3, 4, 6, 5, 7);
    }

    /** The examples of ONNX GatherND, ScatterND and GatherElements. */
    @Test
    void indexTuples() {
        NdArray square = counting(2, 2);
        NdArray tuples = NdArray.of(TensorType.of(DType.I64, 2, 2), 0L, 0, 1, 1);
        assertThat(run(new GatherNd(0), square, tuples)).containsExactly(0, 3);
        NdArray batched = NdArray.of(TensorType.of(DType.I64, 2, 1), 1L, 0);
        assertThat(run(new GatherNd(1), counting(2, 2, 2), batched)).containsExactly(2, 3, 4, 5);
        NdArray places = NdArray.of(TensorType.of(DType.I64, 4, 1), 4L, 3, 1, 7);
        NdArray updates = NdArray.ofLongs(9, 10, 11, 12);
        assertThat(run(new ScatterNd(ScatterFn.REPLACE), NdArray.ofLongs(1, 2, 3, 4, 5, 6, 7, 8), places, updates))
                .containsExactly(1, 11, 3, 10, 9, 6, 7, 12);
        NdArray rows = NdArray.of(TensorType.of(DType.I64, 2, 2), 0L, 0, 1, 0);
        assertThat(run(new GatherElements(1), square, rows)).containsExactly(0, 0, 3, 2);
    }

    @Test
    void oneHotOfIndicesFromEitherEnd() {
        NdArray values = NdArray.ofLongs(0, 1);
        assertThat(run(new OneHot(3, 1), NdArray.ofLongs(1, -1, 3), values)).containsExactly(0, 1, 0, 0, 0, 1, 0, 0, 0);
        assertThat(run(new OneHot(2, 0), NdArray.ofLongs(0, 1, 1), values)).containsExactly(1, 0, 0, 0, 1, 1);
    }
}
