package dev.tenon.cuda.lower.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.InputException;
import dev.tenon.core.testkit.ChildJvm;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RegionFormTest {
    @Test
    void isCompiledWhereThatPaysOrNothingElseTakesIt() {
        RegionForm form = RegionForm.of(null);
        assertThat(form.notCompiled(32_767, true, () -> false))
                .isEqualTo("32767 elements; to compile it pays from 32768");
        assertThat(form.notCompiled(32_768, true, () -> false)).isEmpty();
        assertThat(form.notCompiled(1, false, () -> false)).isEmpty();
    }

    @Test
    void runsCompiledWhereItHasBeenCompiledBefore() {
        assertThat(RegionForm.of(null).notCompiled(1, true, () -> true)).isEmpty();
        assertThat(RegionForm.of("interpreted").notCompiled(1, true, () -> true))
                .isNotEmpty();
    }

    @Test
    void isWhatTheEnvironmentAsksFor() {
        assertThat(RegionForm.of("interpreted").notCompiled(1L << 30, false, () -> false))
                .isNotEmpty();
        assertThat(RegionForm.of("compiled").notCompiled(1, true, () -> false)).isEmpty();
        assertThatThrownBy(() -> RegionForm.of("both"))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("\"both\"")
                .hasMessageContaining("interpreted or compiled");
    }

    /** A child: a class whose initialiser threw could not be used at all. */
    static final class Asking {
        public static void main(String[] arguments) {
            System.out.println(RegionForm.of("compiled"));
            for (int i = 0; i < 2; i++) {
                try {
                    System.out.println(RegionForm.asked());
                } catch (InputException e) {
                    System.out.println(e.getMessage());
                }
            }
        }
    }

    @Test
    void aWordThatIsNoneIsAnOrdinaryError() throws Exception {
        ChildJvm.Result result = ChildJvm.run(Asking.class, Map.of("TENON_REGIONS", "foo"));
        assertThat(result.out().lines())
                .hasSize(3)
                .startsWith("COMPILED")
                .filteredOn(line -> line.startsWith("TENON_REGIONS is \"foo\"; it is interpreted or compiled"))
                .hasSize(2);
    }
}
