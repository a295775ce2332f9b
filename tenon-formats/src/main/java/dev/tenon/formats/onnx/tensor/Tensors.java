package dev.tenon.formats.onnx.tensor;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.HostMemory;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.formats.onnx.schema.TensorProto;
import dev.tenon.formats.onnx.schema.WireReader;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Turns a file's tensors into constants without copying what lies in memory order already: raw bytes, packed floats and
 * external data stay where they are mapped; numbers of variable length are decoded once, outside the heap.
 *
 * <p>Not thread-safe.
 */
public final class Tensors {
    private final String file;
    private final ExternalFiles externals;

    /** @param file names the model in messages */
    public Tensors(String file, ExternalFiles externals) {
        this.file = file;
        this.externals = externals;
    }

    /**
     * The tensor's elements.
     *
     * @throws ImportException naming the tensor, when they are not all there or of a type that Tenon has not
     */
    public ConstantData read(TensorProto tensor) {
        String label = file + ": tensor \"" + tensor.name() + "\"";
        DType dtype = ElementTypes.of(tensor.dataType());
        if (dtype == null) {
            throw new ImportException(label + " has the element type " + ElementTypes.name(tensor.dataType())
                    + ", which is not supported");
        }
        if (tensor.segmented()) {
            throw new ImportException(label + " is split into segments, which is not supported");
        }
        TensorType type = new TensorType(dtype, shape(label, tensor.dims()));
        long bytes = bytes(label, type);
        MemorySegment data = tensor.external() != null
                ? externals.read(label, tensor.external(), bytes)
                : tensor.raw() != null ? tensor.raw() : typed(label, tensor, type, bytes);
        if (data.byteSize() != bytes) {
            throw new ImportException(
                    label + " has " + data.byteSize() + " bytes of data; its type " + type + " asks for " + bytes);
        }
        return new ConstantData.Dense(type, data);
    }

    private static Shape shape(String label, List<Long> dims) {
        for (long dim : dims) {
            if (dim < 0) {
                throw new ImportException(label + " has a negative dim: " + dims);
            }
        }
        return Shape.ofSizes(dims);
    }

    private static long bytes(String label, TensorType type) {
        try {
            return type.bytes();
        } catch (ArithmeticException | TenonException e) {
            throw new ImportException(label + " of type " + type + " is too large", e);
        }
    }

    /**
     * The elements of a typed field; as many as the dims ask for, so what is allocated is bounded by the file's size.
     */
    private static MemorySegment typed(String label, TensorProto tensor, TensorType type, long bytes) {
        DType dtype = type.dtype();
        return switch (dtype) {
            case F32 -> fixed(label, tensor.float32(), bytes);
            case F64 -> fixed(label, tensor.float64(), bytes);
            // packed types: a number holds a byte, that is two elements
            default -> varints(label, tensor.varints(), dtype.bits() < 8 ? DType.U8 : dtype, bytes);
        };
    }

    private static MemorySegment fixed(String label, List<WireReader> parts, long bytes) {
        if (parts.size() == 1) {
            return parts.getFirst().rest();
        }
        check(label, parts.stream().mapToLong(WireReader::remaining).sum(), bytes);
        MemorySegment all = HostMemory.allocate(bytes, 64);
        long at = 0;
        for (WireReader part : parts) {
            MemorySegment rest = part.rest();
            MemorySegment.copy(rest, 0, all, at, rest.byteSize());
            at += rest.byteSize();
        }
        return all;
    }

    private static MemorySegment varints(String label, List<WireReader> parts, DType dtype, long bytes) {
        long count = parts.stream().mapToLong(WireReader::countVarints).sum();
        check(label, dtype.bytesFor(count), bytes);
        MemorySegment all = HostMemory.allocate(bytes, 64);
        long at = 0;
        for (WireReader part : parts) {
            WireReader numbers = part.again();
            while (numbers.hasNumbers()) {
                // float16 and its like travel as their bits
                Elements.setBits(dtype, all, at++, numbers.nextVarint());
            }
        }
        return all;
    }

    private static void check(String label, long has, long wanted) {
        if (has != wanted) {
            throw new ImportException(label + " has " + has + " bytes of data; its type asks for " + wanted);
        }
    }
}
