package dev.tenon.core.error;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TextTest {
    @Test
    void controlCharactersBecomeEscapes() {
        assertThat(Text.name("\u001b[31mEvil\u001b]0;pwn\u0007\nFAKE LOG LINE: ok\r\t\u0000\u007f\u009b"))
                .isEqualTo("\\u001b[31mEvil\\u001b]0;pwn\\u0007\\nFAKE LOG LINE: ok\\r\\t\\u0000\\u007f\\u009b");
    }

    @Test
    void marksOfDirectionAndHalvesOfPairsBecomeEscapes() {
        assertThat(Text.name("a\u202eb\u2066c\u200fd\u2028e\ud800f\udc00g"))
                .isEqualTo("a\\u202eb\\u2066c\\u200fd\\u2028e\\ud800f\\udc00g");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "plain", "\\back\"slash\"", "größer 模型 😀", "/layer.0/attention/MatMul_1"})
    void ordinaryNamesStayAsTheyAre(String name) {
        assertThat(Text.name(name)).isSameAs(name);
        assertThat(Text.message(name)).isSameAs(name);
    }

    @Test
    void namesAreCutAtTwoHundredCharacters() {
        assertThat(Text.name("x".repeat(200))).hasSize(200);
        assertThat(Text.name("x".repeat(10_000_000))).isEqualTo("x".repeat(200) + "… (9999800 more characters)");
        assertThat(Text.name("x".repeat(199) + "😀".repeat(3))).isEqualTo("x".repeat(199) + "… (6 more characters)");
    }

    @Test
    void messagesOfEveryKindAreEscapedAndCut() {
        String evil = "\u001b[2J\n" + "y".repeat(5000);
        for (TenonException e : new TenonException[] {
            new ShapeException("matmul: \"" + evil + "\" is wrong"),
            new ImportException(evil),
            new InputException("input").at(evil),
            new UnsupportedException("a " + evil + " b")
        }) {
            assertThat(e.getMessage())
                    .doesNotContain("\u001b")
                    .doesNotContain("\n")
                    .hasSizeLessThan(300);
        }
        assertThat(new DataException("z z ".repeat(1_000_000)).getMessage()).hasSizeLessThan(4100);
    }

    @Test
    void everyKindOfExceptionCanBeLocated() {
        for (TenonException e : new TenonException[] {
            new NativeException("n"),
            new NativeException("n", new IllegalStateException()),
            new ImportException("i"),
            new DeviceLostException("d"),
            new UnsupportedException("u")
        }) {
            assertThat(e.at("node")).hasMessageEndingWith("(node \"node\")").hasCause(e);
        }
    }

    @Test
    void logsOfCompilersKeepTheirLines() {
        assertThat(new NativeException("failed:\n 1 | int\tx;\n\u001b[31merror").getMessage())
                .isEqualTo("failed:\n 1 | int\tx;\n\\u001b[31merror");
    }
}
