package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code tenon profile}. */
class ProfileTest {
    @TempDir
    Path folder;

    @Test
    void kindsOfStepsMakeUpTheRun() throws IOException {
        List<Map<String, Object>> objects = Cli.run(
                        "profile", "--device", "cpu", "--dim", "sequence_length=32", "--runs", "3", "--json")
                .succeeds()
                .objects();
        Map<String, Object> total = objects.removeLast();
        assertThat(sum(objects, "share")).isBetween(0.999, 1.001);
        assertThat(sum(objects, "steps")).isEqualTo(number(total, "steps"));
        assertThat(objects).allSatisfy(kind -> assertThat(number(kind, "gb_s")).isNotNegative());
        assertThat(objects).anySatisfy(kind -> {
            assertThat(kind.get("op")).isEqualTo("mat_mul");
            assertThat(number(kind, "gflop_s")).isPositive();
        });
        assertThat(objects.stream().map(kind -> number(kind, "micros")).toList())
                .isSortedAccordingTo((a, b) -> Double.compare(b, a));
    }

    @Test
    void traceHoldsTracksThatNest() throws IOException {
        Path file = folder.resolve("trace.json");
        Cli.run("profile", "--device", "cpu", "--dim", "sequence_length=128", "--runs", "2", "--trace", file.toString())
                .succeeds();
        Map<String, Object> trace = Cli.object(Files.readString(file));
        List<Map<String, Object>> slices = new ArrayList<>();
        Map<Double, String> names = new LinkedHashMap<>();
        for (Object event : (List<?>) trace.get("traceEvents")) {
            Map<String, Object> one = map(event);
            if ("X".equals(one.get("ph"))) {
                slices.add(one);
            } else if ("thread_name".equals(one.get("name"))) {
                names.put(
                        number(one, "tid"), String.valueOf(map(one.get("args")).get("name")));
            }
        }
        assertThat(names.values()).contains("run", "cpu", "host");
        assertThat(slices)
                .allSatisfy(slice -> assertThat(names.get(number(slice, "tid"))).isEqualTo(slice.get("cat")));
        List<Map<String, Object>> steps =
                slices.stream().filter(slice -> "cpu".equals(slice.get("cat"))).toList();
        double run = number(slices.getFirst(), "dur");
        double before = 0;
        for (Map<String, Object> step : steps) {
            assertThat(number(step, "ts")).isGreaterThanOrEqualTo(before - 0.001);
            before = number(step, "ts") + number(step, "dur");
        }
        assertThat(before).as("the last step ends within the run").isLessThanOrEqualTo(run);
        assertThat(sum(steps, "dur")).isBetween(0.9 * run, run);
    }

    @Test
    void runWritesATraceToo() throws IOException {
        Path file = folder.resolve("run.json");
        Cli.run("run", Cli.MINI_LM.toString(), "--device", "cpu", "--profile", file.toString())
                .succeeds();
        assertThat((List<?>) Cli.object(Files.readString(file)).get("traceEvents"))
                .hasSizeGreaterThan(50);
    }

    @Test
    void ceilingsOfTheEmulatorAreRefused() {
        Cli.run("calibrate", "--device", "emulator").fails("--device cpu or cuda");
    }

    @Test
    void nothingIsToBeTunedOnTheCpu() {
        Cli.run("tune", Cli.MINI_LM.toString(), "--device", "cpu").fails("the cpu backend has none", "--device cuda");
        Cli.run("tune", Cli.MINI_LM.toString(), "--device", "emulator").fails("emulator backend", "--device cuda");
    }

    @Test
    void badFileIsSaid() {
        Cli.run(
                        "profile",
                        "--device",
                        "cpu",
                        "--runs",
                        "1",
                        "--trace",
                        folder.resolve("no/such").toString())
                .fails("no/such");
    }

    private static double sum(List<Map<String, Object>> objects, String name) {
        return objects.stream().mapToDouble(object -> number(object, name)).sum();
    }

    private static double number(Map<String, Object> object, String name) {
        return ((Number) object.get(name)).doubleValue();
    }

    @SuppressWarnings("unchecked") // names are keys
    private static Map<String, Object> map(Object object) {
        return (Map<String, Object>) object;
    }
}
