package dev.tenon.cuda.dnn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.tuning.Rival;
import dev.tenon.cuda.tuning.Tunable;
import org.junit.jupiter.api.Test;

class DnnAnswerTest {
    private static final Rival OURS = new Rival() {
        @Override
        public long trialBytes() {
            return 0;
        }

        @Override
        public Tunable.Trial trial() {
            throw new IllegalStateException("nothing is timed");
        }
    };

    @Test
    void askersWithoutARivalAreNotSentToOne() {
        assertThat(new DnnAnswer.Slower("a kernel of ours is faster").serves(null))
                .isFalse();
        assertThat(new DnnAnswer.Slower("a kernel of ours is faster").serves(OURS))
                .isTrue();
        assertThat(new DnnAnswer.Refusal("no library").serves(null)).isTrue();
    }
}
