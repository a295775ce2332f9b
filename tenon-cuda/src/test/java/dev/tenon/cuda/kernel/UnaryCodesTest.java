package dev.tenon.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.fn.UnaryFn;
import java.util.EnumSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Java and CUDA mean the same functions by the same numbers, and the switch has a case for each. */
class UnaryCodesTest {
    private static final String HEADER = KernelSources.headers().get("unary_fn.cuh");

    @Test
    void areThoseOfTheHeader() {
        Map<String, Integer> header = Pattern.compile("(?m)^constexpr int FN_(\\w+) = (\\d+);")
                .matcher(HEADER)
                .results()
                .collect(Collectors.toMap(
                        found -> found.group(1), found -> Integer.parseInt(found.group(2)), (a, b) -> a, TreeMap::new));
        Map<String, Integer> java = EnumSet.complementOf(EnumSet.of(UnaryFn.NOT, UnaryFn.BIT_NOT)).stream()
                .collect(Collectors.toMap(UnaryFn::name, UnaryCodes::of, (a, b) -> a, TreeMap::new));
        assertThat(header).isEqualTo(java);
        assertThat(header.values()).doesNotHaveDuplicates().doesNotContain(UnaryCodes.NONE);
        TreeSet<String> cases = new TreeSet<>();
        Pattern.compile("case FN_(\\w+):").matcher(HEADER).results().forEach(found -> cases.add(found.group(1)));
        assertThat(cases).isEqualTo(header.keySet());
    }
}
