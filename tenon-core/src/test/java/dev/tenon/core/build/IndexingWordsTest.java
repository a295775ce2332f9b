package dev.tenon.core.build;

import static dev.tenon.core.build.WordRun.check;
import static dev.tenon.core.build.WordRun.filled;
import static dev.tenon.core.build.WordRun.longs;
import static dev.tenon.core.build.WordRun.of;
import static dev.tenon.core.build.WordRun.run;
import static dev.tenon.core.build.WordRun.sizes;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.fn.ScatterFn;
import org.junit.jupiter.api.Test;

/** Reads and writes at given places, against index arithmetic. */
class IndexingWordsTest {
    private final NdArray counting = filled(i -> i, 2, 3, 4);

    @Test
    void gatherTakesSlicesOfAnAxis() {
        NdArray places = longs(sizes(2), 3, -4);
        check(
                run((g, in) -> g.gather(in.get(0), in.get(1), -1), counting, places),
                sizes(2, 3, 2),
                i -> i / 2 * 4 + (i % 2 == 0 ? 3 : 0));
    }

    @Test
    void gatherElementsTakesOneElementPerIndex() {
        NdArray places = longs(sizes(2, 1, 4), 0, 1, 2, 0, 2, 2, 1, 0);
        check(
                run((g, in) -> g.gatherElements(in.get(0), in.get(1), -2), counting, places),
                sizes(2, 1, 4),
                i -> i / 4 * 12 + places.getLong(i) * 4.0 + i % 4);
    }

    @Test
    void gatherNdTakesWhatTuplesPointAt() {
        NdArray tuples = longs(sizes(2, 2), 1, 2, 0, -3);
        check(
                run((g, in) -> g.gatherNd(in.get(0), in.get(1)), counting, tuples),
                sizes(2, 4),
                i -> (i < 4 ? 20 : 0) + i % 4);
    }

    @Test
    void scatterElementsReplacesAndAdds() {
        NdArray data = of(sizes(2, 3), 1, 2, 3, 4, 5, 6);
        NdArray places = longs(sizes(2, 2), 2, 2, 0, 1);
        NdArray updates = of(sizes(2, 2), 10, 20, 30, 40);
        check(
                run((g, in) -> g.scatterElements(in.get(0), in.get(1), in.get(2), -1), data, places, updates),
                sizes(2, 3),
                1,
                2,
                20,
                30,
                40,
                6);
        check(
                run(
                        (g, in) -> g.scatterElements(in.get(0), in.get(1), in.get(2), -1, ScatterFn.ADD),
                        data,
                        places,
                        updates),
                sizes(2, 3),
                1,
                2,
                33,
                34,
                45,
                6);
    }

    @Test
    void scatterNdReplacesAndAdds() {
        NdArray data = of(sizes(2, 2), 1, 2, 3, 4);
        NdArray tuples = longs(sizes(1, 1), -1);
        NdArray updates = of(sizes(1, 2), 10, 20);
        check(
                run((g, in) -> g.scatterNd(in.get(0), in.get(1), in.get(2)), data, tuples, updates),
                sizes(2, 2),
                1,
                2,
                10,
                20);
        check(
                run((g, in) -> g.scatterNd(in.get(0), in.get(1), in.get(2), ScatterFn.ADD), data, tuples, updates),
                sizes(2, 2),
                1,
                2,
                13,
                24);
    }

    @Test
    void oneHotPutsAnAxisIn() {
        NdArray places = longs(sizes(3), 0, 2, 5);
        check(
                run((g, in) -> g.oneHot(in.getFirst(), 3, -1, DType.F64), places),
                sizes(3, 3),
                1,
                0,
                0,
                0,
                0,
                1,
                0,
                0,
                0);
        check(run((g, in) -> g.oneHot(in.getFirst(), 3, 0, DType.I32), places), sizes(3, 3), 1, 0, 0, 0, 0, 0, 0, 1, 0);
    }
}
