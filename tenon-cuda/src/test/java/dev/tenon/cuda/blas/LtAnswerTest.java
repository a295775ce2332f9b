package dev.tenon.cuda.blas;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.blas.GemmProblem.Activation;
import dev.tenon.cuda.testkit.UntimedRival;
import dev.tenon.cuda.tuning.Rival;
import org.junit.jupiter.api.Test;

class LtAnswerTest {
    private static final Rival OURS = new UntimedRival();

    @Test
    void askersWithoutARivalAreNotSentToOne() {
        assertThat(new LtAnswer.Slower("a kernel of ours is faster").serves(null))
                .isFalse();
        assertThat(new LtAnswer.Slower("a kernel of ours is faster").serves(OURS))
                .isTrue();
        assertThat(new LtAnswer.Refusal("no library").serves(null)).isTrue();
    }

    @Test
    void whatIsFoundBesideARivalIsNoAnswerWithoutOne() {
        GemmProblem problem = new GemmProblem(
                1, 96, 64, 32, false, false, 0, 0, DType.F16, DType.F16, false, false, Activation.NONE, false);
        String beside = LtProduct.problemClass(problem, 7, OURS);
        assertThat(LtProduct.problemClass(problem, 7, null)).isNotEqualTo(beside);
        assertThat(LtProduct.problemClass(problem.withRows(97), 7, OURS)).isEqualTo(beside);
    }
}
