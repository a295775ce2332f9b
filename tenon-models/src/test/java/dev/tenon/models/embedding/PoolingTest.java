package dev.tenon.models.embedding;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PoolingTest {
    /** Three tokens of width 2. */
    private static final float[] HIDDEN = {1, -2, 4, 0, 7, -4};

    private static float[] pool(Pooling pooling, int from) {
        return pooling.pool(HIDDEN, 2, from, 3);
    }

    @Test
    void eachModeGivesItsOwnVector() {
        assertThat(pool(Pooling.CLS, 0)).containsExactly(1, -2);
        assertThat(pool(Pooling.LAST_TOKEN, 0)).containsExactly(7, -4);
        assertThat(pool(Pooling.MAX, 0)).containsExactly(7, 0);
        assertThat(pool(Pooling.MEAN, 0)).containsExactly(4, -2);
        assertThat(pool(Pooling.MEAN_SQRT_LEN, 0))
                .containsExactly((float) (12 / Math.sqrt(3)), (float) (-6 / Math.sqrt(3)));
        assertThat(pool(Pooling.WEIGHTED_MEAN, 0)).containsExactly((1 + 2 * 4 + 3 * 7) / 6f, (-2 + 3 * -4) / 6f);
    }

    @Test
    void promptBeforeFromCountsOnlyForCls() {
        assertThat(pool(Pooling.CLS, 1)).containsExactly(1, -2);
        assertThat(pool(Pooling.MEAN, 1)).containsExactly(5.5f, -2);
        // positions keep their weights
        assertThat(pool(Pooling.WEIGHTED_MEAN, 1)).containsExactly((2 * 4 + 3 * 7) / 5f, (3 * -4) / 5f);
        assertThat(pool(Pooling.LAST_TOKEN, 1)).containsExactly(7, -4);
    }

    @Test
    void nanIsNotLost() {
        float[] hidden = {1, Float.NaN};
        assertThat(Pooling.MAX.pool(hidden, 1, 0, 2)).containsExactly(Float.NaN);
        assertThat(Pooling.MEAN.pool(hidden, 1, 0, 2)).containsExactly(Float.NaN);
    }
}
