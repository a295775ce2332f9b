package dev.tenon.formats.onnx;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.Require;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.formats.onnx.schema.TensorProto;
import dev.tenon.formats.onnx.schema.WireReader;
import dev.tenon.formats.onnx.tensor.ExternalFiles;
import dev.tenon.formats.onnx.tensor.Tensors;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A tensor in a file of its own, as the ONNX project keeps the inputs and outputs of its tests (TensorProto,
 * {@code input_0.pb}).
 *
 * @param name may be empty
 */
public record OnnxTensor(String name, ConstantData data) {
    public OnnxTensor {
        Require.nonNull(name, "name");
        Require.nonNull(data, "data");
    }

    /**
     * Reads a file; it stays mapped as long as the data is used.
     *
     * @throws ImportException when it cannot be read, or holds no tensor that Tenon has a type for
     */
    public static OnnxTensor load(Path path) {
        Require.nonNull(path, "path");
        String file = String.valueOf(path.getFileName());
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            TensorProto tensor = TensorProto.read(
                    WireReader.of(file, channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto())));
            return new OnnxTensor(tensor.name(), new Tensors(file, ExternalFiles.none()).read(tensor));
        } catch (IOException e) {
            throw ImportException.unreadable(path, e);
        }
    }
}
