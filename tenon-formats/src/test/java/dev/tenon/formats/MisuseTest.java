package dev.tenon.formats;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.testkit.NullArguments;
import dev.tenon.core.testkit.PublicApi;
import dev.tenon.formats.npy.Npy;
import dev.tenon.formats.npy.NpyArray;
import dev.tenon.formats.onnx.OnnxModel;
import dev.tenon.formats.safetensors.Safetensors;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Parameter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class MisuseTest {
    private static final class Samples implements NullArguments.Samples {
        private final Map<Class<?>, Object> known = Map.ofEntries(
                Map.entry(String.class, "name"),
                Map.entry(long.class, 100L),
                Map.entry(byte[].class, new byte[1]),
                Map.entry(Path.class, Path.of("none")),
                Map.entry(MemorySegment.class, MemorySegment.ofArray(new float[1])),
                Map.entry(TensorType.class, TensorType.of(DType.F32, 1)),
                Map.entry(ConstantData.class, NdArray.ofLongs(1).toConstant()),
                Map.entry(
                        NpyArray.class,
                        new NpyArray(TensorType.of(DType.F32, 1), MemorySegment.ofArray(new float[1]))));

        @Override
        public Object of(Parameter parameter) {
            return Objects.requireNonNull(known.get(parameter.getType()), parameter.toString());
        }

        @Override
        public Object receiver(Class<?> type) {
            return type == Safetensors.class ? empty() : known.get(type);
        }
    }

    private static Safetensors empty() {
        byte[] header = "{}".getBytes(StandardCharsets.UTF_8);
        ByteBuffer file = ByteBuffer.allocateDirect(8 + header.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(header.length)
                .put(header)
                .flip();
        return Safetensors.parse("empty", MemorySegment.ofBuffer(file), 100);
    }

    @TestFactory
    Stream<DynamicTest> nullArgumentIsNamed() throws Exception {
        List<Class<?>> api = new ArrayList<>();
        for (Class<?> one : List.of(OnnxModel.class, Npy.class, Safetensors.class)) {
            api.addAll(PublicApi.classesBeside(one));
        }
        return NullArguments.tests(api, Samples::new);
    }

    @Test
    void tensorThatIsNotThereIsNamed() {
        assertThatThrownBy(() -> empty().tensor("w"))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("empty: there is no tensor \"w\"");
    }
}
