package dev.tenon.cuda.check;

import dev.tenon.core.testkit.FaultModel;
import dev.tenon.core.testkit.FaultTrials;
import dev.tenon.cuda.platform.CudaPlatform;
import dev.tenon.cuda.testkit.FaultyGpu;
import dev.tenon.cuda.testkit.RequiredGpus;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The emulator's fault injection, over the driver of a GPU. */
class FaultInjectionTest {
    @BeforeAll
    static void device() {
        RequiredGpus.device(0);
    }

    @TestFactory
    Stream<DynamicTest> everyPointFailsOnceAndNothingIsHeld() {
        CudaPlatform platform = new CudaPlatform();
        return FaultModel.all().stream()
                .flatMap(model -> FaultTrials.Mode.all().stream()
                        .map(mode -> DynamicTest.dynamicTest(
                                model.name() + ", " + mode.name(),
                                () -> FaultTrials.run(device(platform), model, mode))));
    }

    /** Each test has its own, so that what one leaves is not held against the next. */
    private static FaultTrials.Device device(CudaPlatform platform) {
        FaultyGpu gpu = new FaultyGpu(platform);
        return new FaultTrials.Device("cuda", gpu.backend(), gpu.points(), gpu::held);
    }
}
