package dev.tenon.cuda.backend;

import dev.tenon.core.runtime.Execution;
import dev.tenon.cuda.check.BackendChecks;
import dev.tenon.cuda.check.SoakCheck;
import dev.tenon.cuda.driver.Gpu;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class BackendTest {
    @BeforeAll
    static void device() {
        Gpu.require();
    }

    @TestFactory
    Stream<DynamicTest> promises() {
        return BackendChecks.all().stream()
                .map(one ->
                        DynamicTest.dynamicTest(one.name(), () -> one.check().accept("cuda")));
    }

    @ParameterizedTest
    @EnumSource
    void memoryStaysFlat(Execution execution) {
        SoakCheck.run("cuda", execution, 1000, 20);
    }
}
