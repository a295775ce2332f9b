package dev.tenon.cuda.dnn;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DnnAnswerTest {
    @Test
    void askersWithoutARivalAreNotSentToOne() {
        assertThat(new DnnAnswer.Slower("a kernel of ours is faster").serves(false))
                .isFalse();
        assertThat(new DnnAnswer.Slower("a kernel of ours is faster").serves(true))
                .isTrue();
        assertThat(new DnnAnswer.Refusal("no library").serves(false)).isTrue();
    }
}
