package dev.tenon.cuda.dnn;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DnnEngineTest {
    @Test
    void wordsSayWhatItIs() {
        DnnEngine engine = new DnnEngine(35, Map.of(12, 1L, 2, -7L));
        assertThat(engine.words()).isEqualTo("35 2=-7 12=1");
        assertThat(DnnEngine.parse(engine.words())).isEqualTo(engine);
        assertThat(DnnEngine.parse("3")).isEqualTo(new DnnEngine(3, Map.of()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "x", "3 2", "3 =", "3 2=", "3 =2", "3 a=1", "99999999999999999999"})
    void otherWordsSayNothing(String words) {
        assertThat(DnnEngine.parse(words)).isNull();
    }
}
