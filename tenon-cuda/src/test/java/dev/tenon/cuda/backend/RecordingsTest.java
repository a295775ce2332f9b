package dev.tenon.cuda.backend;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RecordingsTest {
    private final Recordings<String> recordings = new Recordings<>(100);

    @Test
    void leastRecentlyUsedGoesFirst() {
        assertThat(recordings.add("a", 40)).isEmpty();
        assertThat(recordings.add("b", 40)).isEmpty();
        recordings.use("a");
        assertThat(recordings.add("c", 40)).containsExactly("b");
        assertThat(recordings.add("d", 90)).containsExactly("a", "c");
    }

    @Test
    void newestStaysWhateverItTakes() {
        assertThat(recordings.add("a", 40)).isEmpty();
        assertThat(recordings.add("b", 1000)).containsExactly("a");
        assertThat(recordings.add("c", 1)).containsExactly("b");
    }

    @Test
    void removedAndReplacedOnesAreNotCounted() {
        recordings.add("a", 90);
        recordings.remove("a");
        recordings.remove("a");
        assertThat(recordings.add("b", 90)).isEmpty();
        assertThat(recordings.add("b", 50)).isEmpty();
        assertThat(recordings.add("c", 50)).isEmpty();
    }
}
