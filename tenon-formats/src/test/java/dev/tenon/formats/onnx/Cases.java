package dev.tenon.formats.onnx;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/** The test resources, loaded and run. */
final class Cases {
    private Cases() {}

    static Path file(String name) {
        try {
            return Path.of(Objects.requireNonNull(Cases.class.getResource("/" + name), name)
                    .toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(name, e);
        }
    }

    static OnnxModel load(String name) {
        return OnnxModel.load(file("cases/" + name + ".onnx"));
    }

    static NdArray f32(long[] sizes, double... values) {
        return NdArray.of(TensorType.of(DType.F32, sizes), values);
    }

    /** The only output for a value of the only input. */
    static NdArray run(OnnxModel model, NdArray x) {
        return Interpreter.run(model.graph(), Map.of(model.inputs().getFirst().name(), x))
                .firstEntry()
                .getValue();
    }

    static NdArray run(String name, NdArray x) {
        return run(load(name), x);
    }

    static long[] shape(long... sizes) {
        return sizes;
    }
}
