package dev.tenon.cuda.check;

import dev.tenon.cuda.testkit.RequiredGpus;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Collectives on tensors that runtimes made. One GPU is a world too: there all goes through NCCL, on two short sums go
 * over peer memory.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GpuTensorsTest {
    static Stream<Arguments> promises() {
        return IntStream.of(1, 2)
                .boxed()
                .flatMap(world -> TensorChecks.all().stream()
                        .filter(check -> check.leastWorld() <= world)
                        .map(check -> Arguments.of(world, check.name(), check.body())));
    }

    @ParameterizedTest(name = "{0} GPU(s): {1}")
    @MethodSource
    void promises(int world, String name, TensorChecks.Body body) {
        RequiredGpus.group(world);
        body.run("cuda", world);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void everyOperation(int world) {
        RequiredGpus.group(world);
        TensorOperationChecks.run("cuda", world);
    }
}
