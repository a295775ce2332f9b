package dev.tenon.core.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExecutionTest {
    @Test
    void textIsReadBack() {
        assertThat(Execution.parse("stream")).isEqualTo(Execution.stream());
        assertThat(Execution.parse("graph")).isEqualTo(Execution.graph());
        assertThat(Execution.parse("multi:1")).isEqualTo(Execution.stream());
        assertThat(Execution.parse("multi:4")).isEqualTo(Execution.multiStream(4));
        assertThat(Execution.parse("graph:16"))
                .isEqualTo(Execution.multiStream(16).asGraph());
        for (int streams = 1; streams <= Execution.MOST_STREAMS; streams++) {
            Execution enqueued = Execution.multiStream(streams);
            assertThat(Execution.parse(enqueued.toString())).isEqualTo(enqueued);
            assertThat(Execution.parse(enqueued.asGraph().toString())).isEqualTo(enqueued.asGraph());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "streams", "multi", "multi:", "multi:0", "multi:17", "graph:x", "stream:2", "multi:2:2"})
    void otherTextIsRefused(String text) {
        assertThatThrownBy(() -> Execution.parse(text)).isInstanceOf(InputException.class);
    }

    @Test
    void streamsOutOfBoundsAreRefused() {
        assertThatThrownBy(() -> Execution.multiStream(0))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("expected 1 to 16");
    }
}
