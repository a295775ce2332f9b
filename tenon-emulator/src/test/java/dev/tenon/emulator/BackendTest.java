package dev.tenon.emulator;

import dev.tenon.core.options.Execution;
import dev.tenon.cuda.check.BackendChecks;
import dev.tenon.cuda.check.SoakCheck;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BackendTest {
    @BeforeAll
    static void device() {
        Harness.require();
    }

    @TestFactory
    Stream<DynamicTest> promises() {
        return BackendChecks.all().stream()
                .map(one ->
                        DynamicTest.dynamicTest(one.name(), () -> one.check().accept("emulator")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"stream", "graph", "multi:3", "graph:3"})
    void memoryStaysFlat(Execution execution) {
        SoakCheck.run("emulator", execution, 60, 5);
    }
}
