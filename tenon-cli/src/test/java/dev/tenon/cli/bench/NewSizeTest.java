package dev.tenon.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.timing.StartUp;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NewSizeTest {
    private static NewSize size(String name, double millis, double plan) {
        return new NewSize(name, millis, plan, new StartUp.Spent(0, 2, 0.5, 1, 0.25, 7, 1.5), 0.125);
    }

    private final List<NewSize> all = List.of(size("8 8", 3, 1), size("16 8", 9, 4), size("8 16", 5, 6));

    @Test
    void slowestComeFirst() {
        assertThat(NewSize.slowest(all, 2)).extracting(NewSize::name).containsExactly("16 8", "8 16");
        assertThat(NewSize.slowest(all, 9)).hasSize(3);
    }

    @Test
    void objectsHaveEveryFigure() {
        Map<String, Object> first = NewSize.objects(all, 1).getFirst();
        assertThat(first)
                .containsEntry("size", "16 8")
                .containsEntry("ms", 9.0)
                .containsEntry("plan_ms", 4.0)
                .containsEntry("library_ms", 1.5)
                .containsEntry("library_plans", 7L)
                .containsEntry("kernel_load_ms", 0.5)
                .containsEntry("kernels_loaded", 2L)
                .containsEntry("kernels_compiled", 1L)
                .containsEntry("collector_ms", 0.125);
    }

    @Test
    void tableHasTheMediansFirst() {
        StringWriter text = new StringWriter();
        NewSize.print(new PrintWriter(text, true), all, 1);
        List<String> lines = text.toString().lines().toList();
        assertThat(lines).hasSize(3);
        assertThat(lines.get(1)).startsWith("median").contains("5.00 ms", "4.00 ms", "1.50 ms");
        assertThat(lines.get(2)).startsWith("16 8").contains("9.00 ms", "7");
    }

    @Test
    void runIsWhatPlanningLeaves() {
        StringWriter text = new StringWriter();
        NewSize.print(new PrintWriter(text, true), List.of(size("1", 5, 6)), 1);
        assertThat(text.toString()).contains("0.0 us");
    }
}
