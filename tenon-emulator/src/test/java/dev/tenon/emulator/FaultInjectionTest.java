package dev.tenon.emulator;

import dev.tenon.core.testkit.FaultModel;
import dev.tenon.core.testkit.FaultTrials;
import dev.tenon.cuda.compile.Workshop;
import dev.tenon.cuda.testkit.FaultyGpu;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Every call of the driver that could fail fails once, at every point of the lives of small models. */
class FaultInjectionTest {
    @BeforeAll
    static void device() {
        Harness.require();
    }

    @TestFactory
    Stream<DynamicTest> everyPointFailsOnceAndNothingIsHeld() {
        EmulatorPlatform platform = new EmulatorPlatform();
        return FaultModel.all().stream()
                .flatMap(model -> FaultTrials.Mode.all().stream()
                        .map(mode -> DynamicTest.dynamicTest(
                                model.name() + ", " + mode.name(),
                                () -> FaultTrials.run(device(platform), model, mode))));
    }

    /** Each test has its own, so that what one leaves is not held against the next. */
    private static FaultTrials.Device device(EmulatorPlatform platform) {
        FaultyGpu gpu = new FaultyGpu(platform);
        Set<Path> before = Set.copyOf(modules()); // other tests of this JVM may hold some
        return new FaultTrials.Device(
                "emulator", gpu.backend(), gpu.points(), () -> gpu.held() + threads() + files(before));
    }

    /** Those of streams, host steps and compilations. */
    private static String threads() {
        List<String> running = Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("tenon-emulator-")
                        || name.startsWith("tenon-cpu-")
                        || name.startsWith("tenon-kernels-"))
                .toList();
        return running.isEmpty() ? "" : " threads " + running;
    }

    /** A module that is loaded is a file of its own. */
    private static String files(Set<Path> before) {
        List<Path> left =
                modules().stream().filter(file -> !before.contains(file)).toList();
        return left.isEmpty() ? "" : " files " + left;
    }

    private static List<Path> modules() {
        Path folder = Workshop.fresh("probe").getParent();
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> file.getFileName().toString().endsWith("kernel.so"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
