package dev.tenon.cuda.dnn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.testkit.UntimedRival;
import dev.tenon.cuda.tuning.Rival;
import org.junit.jupiter.api.Test;

class DnnAnswerTest {
    private static final Rival OURS = new UntimedRival();

    @Test
    void askersWithoutARivalAreNotSentToOne() {
        assertThat(new DnnAnswer.Slower("a kernel of ours is faster").serves(null))
                .isFalse();
        assertThat(new DnnAnswer.Slower("a kernel of ours is faster").serves(OURS))
                .isTrue();
        assertThat(new DnnAnswer.Refusal("no library").serves(null)).isTrue();
    }
}
