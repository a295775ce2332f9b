package dev.tenon.core.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.InputException;
import org.junit.jupiter.api.Test;

class CompileOptionsTest {
    private static final CompileOptions DEFAULTS = CompileOptions.defaults();

    @Test
    void boundsThatMakeNoSenseAreRefused() {
        assertThatThrownBy(() -> DEFAULTS.withMaxPlans(0))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("\"maxPlans\" is 0; expected 1 or more");
        assertThatThrownBy(() -> DEFAULTS.withMaxPlans(-5)).isInstanceOf(InputException.class);
        assertThatThrownBy(() -> DEFAULTS.withMaxPlanBytes(-1))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("\"maxPlanBytes\" is -1; expected 0 or more");
    }

    @Test
    void leastBoundsAreTaken() {
        assertThat(DEFAULTS.withMaxPlans(1).maxPlans()).isOne();
        assertThat(DEFAULTS.withMaxPlanBytes(0).maxPlanBytes()).isZero();
    }
}
