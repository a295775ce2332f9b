package dev.tenon.formats.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.testkit.ChildJvm;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * 300,000 nodes import in time that grows with their number, whatever their order, in less than 1 KB of heap per node
 * with all that importing needs.
 */
class LongChainTest {
    private static final int NODES = 300_000;

    @ParameterizedTest
    @ValueSource(strings = {"sorted", "reversed"})
    void manyNodesImportInLinearTimeAndLittleHeap(String order) throws Exception {
        // 1 KB per node, and 40 MB for the JVM, the model's bytes and the test itself
        ChildJvm.Result result =
                ChildJvm.run(LongChain.class, Map.of("JAVA_TOOL_OPTIONS", "-Xmx340m"), "" + NODES, order);
        assertThat(result.code()).as(result.out()).isZero();
        List<double[]> measured = result.out()
                .lines()
                .filter(line -> line.startsWith("measured "))
                .map(line -> java.util.Arrays.stream(line.split(" "))
                        .skip(1)
                        .mapToDouble(Double::parseDouble)
                        .toArray())
                .toList();
        assertThat(measured).hasSize(2);
        double[] few = measured.get(0);
        double[] many = measured.get(1);
        assertThat(many[0]).isEqualTo(NODES);
        // time per node: four times for a quadratic part; the shorter chain pays for the warm-up
        assertThat(many[1])
                .as("microseconds per node, %s for a quarter of them", few[1])
                .isLessThan(2.5 * few[1]);
        assertThat(many[2]).as("bytes per node").isBetween(1.0, 1024.0);
    }
}
