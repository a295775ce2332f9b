package dev.tenon.formats.onnx.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.formats.onnx.schema.GraphProto;
import dev.tenon.formats.onnx.tensor.ExternalFiles;
import dev.tenon.formats.onnx.tensor.Tensors;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each listed operator has a row in its family. */
class OnnxOpsTest {
    private static final Branches NONE = new Branches() {
        @Override
        public Captured graphs(List<GraphProto> branches) {
            throw new AssertionError();
        }

        @Override
        public Captured loopBody(GraphProto body, List<TensorType> inputs) {
            throw new AssertionError();
        }

        @Override
        public List<Value> inline(GraphProto branch) {
            throw new AssertionError();
        }
    };

    static List<OnnxOps.Name> names() {
        return OnnxOps.names();
    }

    @ParameterizedTest
    @MethodSource("names")
    void isMapped(OnnxOps.Name operator) {
        NodeContext bare = new NodeContext(
                new GraphBuilder("g"),
                new NodeContext.Applied("file: node \"n\": operator " + operator, "n", operator.op(), 17),
                List.of(),
                1,
                Attributes.of("n", List.of(), Map.of()),
                new Tensors("file", ExternalFiles.none()),
                NONE);
        // without inputs and attributes every row finds something missing, and says so as a fault of the file
        assertThatThrownBy(() -> OnnxOps.map(operator, bare)).isInstanceOf(TenonException.class);
        assertThat(OnnxOps.names()).doesNotHaveDuplicates();
    }
}
