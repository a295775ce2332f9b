package dev.tenon.collective;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ChunksTest {
    @Test
    void coverEveryElementOnce() {
        for (int world = 1; world <= 17; world++) {
            for (long length = 0; length <= 70; length++) {
                Chunks chunks = new Chunks(length, world);
                assertThat(chunks.start(0)).isZero();
                assertThat(chunks.end(world - 1)).isEqualTo(length);
                for (int chunk = 0; chunk < world; chunk++) {
                    assertThat(chunks.start(chunk)).isEqualTo(chunk * length / world);
                    assertThat(chunks.size(chunk)).isBetween(length / world, length / world + 1);
                }
                for (long element = 0; element < length; element++) {
                    int chunk = chunks.of(element);
                    assertThat(element).isBetween(chunks.start(chunk), chunks.end(chunk) - 1);
                }
            }
        }
    }

    @Test
    void doNotOverflow() {
        Chunks chunks = new Chunks(Long.MAX_VALUE, 4096);
        assertThat(chunks.end(4095)).isEqualTo(Long.MAX_VALUE);
        assertThat(chunks.of(Long.MAX_VALUE - 1)).isEqualTo(4095);
    }
}
