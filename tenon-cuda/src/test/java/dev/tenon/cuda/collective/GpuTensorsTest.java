package dev.tenon.cuda.collective;

import dev.tenon.cuda.check.TensorChecks;
import dev.tenon.cuda.check.TensorOperationChecks;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Collectives on tensors that runtimes made, on 1, 2 and 4 GPUs; one GPU is a world of NCCL's too. */
@EndsInTime
class GpuTensorsTest {
    @TestFactory
    Stream<DynamicTest> promises() {
        return IntStream.of(1, 2, 4)
                .boxed()
                .flatMap(world -> TensorChecks.all().stream()
                        .filter(check -> check.leastWorld() <= world)
                        .map(check -> DynamicTest.dynamicTest(world + " GPU(s): " + check.name(), () -> {
                            Gpus.require(world);
                            check.body().run("cuda", world);
                        })));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void everyOperation(int world) {
        Gpus.require(world);
        TensorOperationChecks.run("cuda", world);
    }
}
