package dev.tenon.formats.npy;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.Require;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.HostMemory;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * numpy's .npy files: one array each.
 *
 * <p>Reading takes versions 1 to 3, either byte order, row-major and column-major; little-endian row-major data, which
 * is the usual, stays in the mapped file. Writing makes version 1, little-endian, row-major. Thread-safe.
 *
 * <p>Source: the format's description, numpy.lib.format.
 */
public final class Npy {
    private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};

    /** Longer headers are none that numpy writes; it refuses more than 10,000 characters itself. */
    private static final long MAX_HEADER = 1 << 16;

    /** numpy starts the data at a multiple of this. */
    private static final int ALIGNMENT = 64;

    private Npy() {}

    /**
     * Reads a file; it stays mapped as long as the array is used, and must not change meanwhile.
     *
     * @throws ImportException when it cannot be read, or is no such file, or has elements that Tenon has no type for
     */
    public static NpyArray read(Path path) {
        Require.nonNull(path, "path");
        String file = String.valueOf(path.getFileName());
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            return parse(file, channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto()));
        } catch (IOException e) {
            throw ImportException.unreadable(path, e);
        }
    }

    /**
     * Reads an array from memory, which it may stay a view of.
     *
     * @param file stands for the file name in messages
     * @throws ImportException as {@link #read}
     */
    public static NpyArray parse(String file, MemorySegment bytes) {
        Require.nonNull(file, "file");
        Require.nonNull(bytes, "bytes");
        for (int i = 0; i < MAGIC.length; i++) {
            if (i >= bytes.byteSize() || bytes.get(ValueLayout.JAVA_BYTE, i) != MAGIC[i]) {
                throw new ImportException(file + ": not a .npy file (it does not start with \\x93NUMPY)");
            }
        }
        if (bytes.byteSize() < 12) {
            throw new ImportException(file + ": truncated in its header");
        }
        int version = bytes.get(ValueLayout.JAVA_BYTE, 6);
        if (version < 1 || version > 3) {
            throw new ImportException(file + ": version " + version + " of the format is not known; 1 to 3 are");
        }
        int start = version == 1 ? 10 : 12;
        long length = version == 1
                ? Elements.bits(DType.U16, bytes.asSlice(8), 0)
                : Elements.bits(DType.U32, bytes.asSlice(8), 0);
        if (length > MAX_HEADER || length > bytes.byteSize() - start) {
            throw new ImportException(file + ": its header claims " + length + " bytes, " + (bytes.byteSize() - start)
                    + " are left and " + MAX_HEADER + " allowed");
        }
        String text = new String(
                bytes.asSlice(start, length).toArray(ValueLayout.JAVA_BYTE),
                version == 3 ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1);
        return array(file, NpyHeader.parse(file, text), bytes.asSlice(start + length));
    }

    private static NpyArray array(String file, NpyHeader header, MemorySegment data) {
        String descr = header.descr();
        DType dtype = descr.length() < 2 ? null : dtype(descr.substring(1));
        char order = descr.isEmpty() ? '?' : descr.charAt(0);
        if (dtype == null || "<>=|".indexOf(order) < 0) {
            throw new ImportException(file + ": element type \"" + descr + "\" is not supported");
        }
        TensorType type = new TensorType(dtype, Shape.ofSizes(header.shape()));
        long wanted;
        try {
            wanted = type.bytes();
        } catch (ArithmeticException | TenonException e) {
            throw new ImportException(file + ": an array " + type + " is too large", e);
        }
        if (data.byteSize() != wanted) {
            throw new ImportException(
                    file + ": " + data.byteSize() + " bytes of data; its type " + type + " asks for " + wanted);
        }
        MemorySegment little = order == '>' && dtype.bytes() > 1 ? swapped(dtype, data) : data;
        boolean turned = header.fortran() && type.shape().rank() > 1;
        return new NpyArray(type, turned ? rowMajor(type, little) : little);
    }

    /** The type of a code without its byte order: {@code f4}. */
    private static @Nullable DType dtype(String code) {
        return switch (code) {
            case "f8" -> DType.F64;
            case "f4" -> DType.F32;
            case "f2" -> DType.F16;
            case "i8" -> DType.I64;
            case "i4" -> DType.I32;
            case "i2" -> DType.I16;
            case "i1" -> DType.I8;
            case "u8" -> DType.U64;
            case "u4" -> DType.U32;
            case "u2" -> DType.U16;
            case "u1" -> DType.U8;
            case "b1" -> DType.BOOL;
            default -> null;
        };
    }

    private static MemorySegment swapped(DType dtype, MemorySegment data) {
        int width = dtype.bytes();
        MemorySegment copy = HostMemory.allocate(data.byteSize(), ALIGNMENT);
        for (long at = 0; at < data.byteSize(); at++) {
            long from = at - at % width + (width - 1 - at % width);
            copy.set(ValueLayout.JAVA_BYTE, at, data.get(ValueLayout.JAVA_BYTE, from));
        }
        return copy;
    }

    /** Column-major elements in row-major order. */
    private static MemorySegment rowMajor(TensorType type, MemorySegment data) {
        long[] sizes = type.shape().sizes();
        long[] index = new long[sizes.length];
        long elements = type.shape().elements();
        MemorySegment copy = HostMemory.allocate(data.byteSize(), ALIGNMENT);
        for (long at = 0; at < elements; at++) {
            long from = 0;
            for (int axis = sizes.length - 1; axis >= 0; axis--) {
                from = from * sizes[axis] + index[axis];
            }
            Elements.setBits(type.dtype(), copy, at, Elements.bits(type.dtype(), data, from));
            for (int axis = sizes.length - 1; axis >= 0 && ++index[axis] == sizes[axis]; axis--) {
                index[axis] = 0;
            }
        }
        return copy;
    }

    /**
     * Writes a file, replacing one that is there. Types that numpy has not are widened without loss: bf16 and the 8-bit
     * floats to f32, i4 and u4 to i8 and u8.
     *
     * @throws IOException when the file cannot be written
     */
    public static void write(Path path, NpyArray array) throws IOException {
        Require.nonNull(path, "path");
        NpyArray known = widened(Require.nonNull(array, "array"));
        try (FileChannel channel = FileChannel.open(
                path, StandardOpenOption.WRITE, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING)) {
            writeAll(channel, ByteBuffer.wrap(header(known.type())));
            long size = known.data().byteSize();
            for (long at = 0; at < size; at += 1 << 30) {
                writeAll(
                        channel,
                        known.data().asSlice(at, Math.min(1 << 30, size - at)).asByteBuffer());
            }
        }
    }

    private static void writeAll(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    private static byte[] header(TensorType type) {
        String sizes = type.shape().dims().stream()
                .map(dim -> Long.toString(dim.size()))
                .collect(Collectors.joining(", "));
        String dict = "{'descr': '" + descr(type.dtype()) + "', 'fortran_order': False, 'shape': (" + sizes
                + (type.shape().rank() == 1 ? ",), }" : "), }");
        int length = Math.ceilDiv(10 + dict.length() + 1, ALIGNMENT) * ALIGNMENT - 10;
        byte[] bytes = new byte[10 + length];
        System.arraycopy(MAGIC, 0, bytes, 0, MAGIC.length);
        bytes[6] = 1;
        bytes[8] = (byte) length;
        bytes[9] = (byte) (length >> 8);
        String padded = dict + " ".repeat(length - dict.length() - 1) + "\n";
        System.arraycopy(padded.getBytes(StandardCharsets.ISO_8859_1), 0, bytes, 10, length);
        return bytes;
    }

    private static String descr(DType dtype) {
        String kind = dtype == DType.BOOL ? "b" : dtype.isFloat() ? "f" : dtype.isUnsigned() ? "u" : "i";
        return (dtype.bytes() == 1 ? "|" : "<") + kind + dtype.bytes();
    }

    private static NpyArray widened(NpyArray array) {
        DType from = array.type().dtype();
        DType to = switch (from) {
            case BF16, F8E4M3, F8E5M2 -> DType.F32;
            case I4 -> DType.I8;
            case U4 -> DType.U8;
            default -> from;
        };
        if (to == from) {
            return array;
        }
        TensorType type = new TensorType(to, array.type().shape());
        MemorySegment wide = HostMemory.allocate(type.bytes(), ALIGNMENT);
        for (long i = 0; i < type.shape().elements(); i++) {
            Elements.setDouble(to, wide, i, Elements.getDouble(from, array.data(), i));
        }
        return new NpyArray(type, wide);
    }
}
