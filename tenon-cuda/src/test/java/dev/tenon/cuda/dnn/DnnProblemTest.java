package dev.tenon.cuda.dnn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import java.util.List;
import org.junit.jupiter.api.Test;

class DnnProblemTest {
    private static DnnProblem problem(long batch, long height, long width, boolean relu) {
        List<Long> ones = List.of(1L, 1L);
        return new DnnProblem(
                DType.F16,
                List.of(batch, 64L, height, width),
                List.of(32L, 64L, 3L, 3L),
                List.of(batch, 32L, height, width),
                ones,
                ones,
                ones,
                ones,
                false,
                true,
                false,
                true,
                relu,
                false,
                false);
    }

    @Test
    void positionsAreThoseOfAllImages() {
        assertThat(problem(3, 10, 20, true).positions()).isEqualTo(600);
    }

    @Test
    void problemsOfOtherSizesAreOfOneKind() {
        assertThat(problem(1, 10, 20, true).kind())
                .isEqualTo(problem(8, 31, 7, true).kind())
                .isNotEqualTo(problem(1, 10, 20, false).kind());
    }

    @Test
    void classesHaveAsManyPositionsWithinAFactor() {
        String one = problem(1, 32, 32, true).problemClass();
        assertThat(problem(1, 16, 64, true).problemClass()).isEqualTo(one);
        assertThat(problem(4, 16, 16, true).problemClass()).isEqualTo(one);
        assertThat(problem(1, 32, 47, true).problemClass()).isEqualTo(one);
        assertThat(problem(1, 32, 48, true).problemClass()).isNotEqualTo(one);
        assertThat(problem(1, 32, 32, false).problemClass()).isNotEqualTo(one);
    }
}
