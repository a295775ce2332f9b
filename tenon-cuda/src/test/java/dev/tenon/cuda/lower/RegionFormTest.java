package dev.tenon.cuda.lower;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.UnsupportedException;
import org.junit.jupiter.api.Test;

class RegionFormTest {
    @Test
    void isCompiledWhereThatPaysOrNothingElseTakesIt() {
        RegionForm form = RegionForm.of(null);
        assertThat(form.notCompiled(32_767, true)).isEqualTo("32767 elements; it pays from 32768");
        assertThat(form.notCompiled(32_768, true)).isEmpty();
        assertThat(form.notCompiled(1, false)).isEmpty();
    }

    @Test
    void isWhatTheEnvironmentAsksFor() {
        assertThat(RegionForm.of("interpreted").notCompiled(1L << 30, false)).isNotEmpty();
        assertThat(RegionForm.of("compiled").notCompiled(1, true)).isEmpty();
        assertThatThrownBy(() -> RegionForm.of("both"))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("\"both\"")
                .hasMessageContaining("interpreted or compiled");
    }
}
