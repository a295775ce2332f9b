package dev.tenon.cuda.lower.step;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MicrosTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0.0",
        "0.04, 0.0",
        "0.05, 0.1",
        "1.25, 1.3",
        "12.34, 12.3",
        "999.96, 1000.0",
        "-0.01, 0.0",
        "-3.26, -3.3",
        "NaN, NaN",
        "Infinity, Infinity",
        "1e300, 1e300"
    })
    void timesHaveOneDecimal(double micros, String text) {
        String expected = text.equals("1e300") ? String.format("%.1f", 1e300) : text;
        assertThat(Micros.text(micros)).isEqualTo(expected);
    }
}
