package dev.tenon.cuda.check;

import dev.tenon.core.options.Execution;
import dev.tenon.cuda.testkit.RequiredGpus;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BackendTest {
    @BeforeAll
    static void device() {
        RequiredGpus.device(0);
    }

    @TestFactory
    Stream<DynamicTest> promises() {
        return BackendChecks.all().stream()
                .map(one ->
                        DynamicTest.dynamicTest(one.name(), () -> one.check().accept("cuda")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"stream", "graph", "multi:3", "graph:3"})
    void memoryStaysFlat(Execution execution) {
        SoakCheck.run("cuda", execution, 1000, 20);
    }
}
