package dev.tenon.formats.safetensors;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.formats.json.JsonObject;
import dev.tenon.formats.json.JsonReader;
import dev.tenon.formats.safetensors.Safetensors.Entry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** The JSON header of a safetensors file, checked against the bytes behind it. */
record SafetensorsHeader(SequencedMap<String, String> metadata, SequencedMap<String, Entry> entries, long dataStart) {
    private static final ValueLayout.OfLong LENGTH = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int LENGTH_BYTES = 8;
    private static final int MAX_RANK = 64;

    static SafetensorsHeader read(String file, MemorySegment bytes, long maxHeaderBytes) {
        if (bytes.byteSize() < LENGTH_BYTES) {
            throw new ImportException(file + ": " + bytes.byteSize()
                    + " bytes are no safetensors file, which starts with the 8 bytes of its header's length");
        }
        long length = bytes.get(LENGTH, 0);
        long left = bytes.byteSize() - LENGTH_BYTES;
        if (length < 0 || length > left) {
            throw new ImportException(file + ": the header claims " + Long.toUnsignedString(length) + " bytes, " + left
                    + " are left in the file");
        }
        if (length > maxHeaderBytes || length > Integer.MAX_VALUE - 16) {
            throw new ImportException(file + ": the header has " + length + " bytes, the limit is " + maxHeaderBytes
                    + "; read the file with a higher limit if it is trusted");
        }
        byte[] json = bytes.asSlice(LENGTH_BYTES, length).toArray(ValueLayout.JAVA_BYTE);
        try {
            SafetensorsHeader header = parse(new JsonReader(json), LENGTH_BYTES + length, left - length);
            checkLayout(header.entries, left - length);
            return header;
        } catch (ImportException e) {
            throw new ImportException(file + ": header, " + e.getMessage(), e);
        }
    }

    private static SafetensorsHeader parse(JsonReader json, long dataStart, long dataBytes) {
        SequencedMap<String, Entry> entries = new LinkedHashMap<>();
        SequencedMap<String, String> metadata = null;
        json.beginObject();
        String name = json.nextKey(true);
        for (; name != null; name = json.nextKey(false)) {
            if (!(json.readValue(name) instanceof JsonObject object)) {
                throw json.error("\"" + name + "\" must be an object");
            }
            if (name.equals("__metadata__")) {
                if (metadata != null) {
                    throw json.error("\"__metadata__\" is there twice");
                }
                metadata = strings(object);
            } else if (entries.put(name, entry(object, dataBytes)) != null) {
                throw json.error("the tensor \"" + name + "\" is there twice");
            }
        }
        json.end();
        return new SafetensorsHeader(metadata == null ? new LinkedHashMap<>() : metadata, entries, dataStart);
    }

    private static SequencedMap<String, String> strings(JsonObject object) {
        SequencedMap<String, String> strings = new LinkedHashMap<>();
        object.names().forEach(name -> strings.put(name, object.string(name)));
        return strings;
    }

    private static Entry entry(JsonObject object, long dataBytes) {
        DType dtype = dtype(object);
        List<Long> sizes = sizes(object);
        long elements = elements(object, sizes);
        List<Object> offsets = object.array("data_offsets");
        if (offsets.size() != 2 || !(offsets.get(0) instanceof Long begin) || !(offsets.get(1) instanceof Long end)) {
            throw object.error("data_offsets", "is " + offsets + "; it must be [begin, end]");
        }
        if (begin < 0 || end < begin || end > dataBytes) {
            throw object.error(
                    "data_offsets",
                    "is " + offsets + "; it must be ascending and within the " + dataBytes + " bytes of data");
        }
        // a quotient, as the product may overflow
        if ((end - begin) % dtype.bytes() != 0 || (end - begin) / dtype.bytes() != elements) {
            throw object.error(
                    "data_offsets",
                    "is " + offsets + ", " + (end - begin) + " bytes; " + dtype + sizes + " has " + elements
                            + " elements of " + dtype.bytes());
        }
        return new Entry(new TensorType(dtype, Shape.ofSizes(sizes)), begin, end);
    }

    private static List<Long> sizes(JsonObject object) {
        List<Long> sizes = new ArrayList<>();
        for (Object size : object.array("shape")) {
            if (!(size instanceof Long number) || number < 0) {
                throw object.error("shape[" + sizes.size() + "]", "is " + size + "; it must be a size of 0 or more");
            }
            sizes.add(number);
        }
        if (sizes.size() > MAX_RANK) {
            throw object.error("shape", "has " + sizes.size() + " dims; " + MAX_RANK + " is the most");
        }
        return sizes;
    }

    /** The number of elements. The product of the sizes other than 0 must fit too, or strides would overflow. */
    private static long elements(JsonObject object, List<Long> sizes) {
        long product = 1;
        for (long size : sizes) {
            if (size > 0 && product > (Long.MAX_VALUE >> 4) / size) {
                throw object.error("shape", "is " + sizes + ", which overflows");
            }
            product *= Math.max(1, size);
        }
        return sizes.contains(0L) ? 0 : product;
    }

    private static DType dtype(JsonObject object) {
        String name = object.string("dtype");
        DType dtype = known(name);
        if (dtype == null) {
            throw object.error("dtype", "is '" + name + "', which is not supported");
        }
        return dtype;
    }

    private static @Nullable DType known(String name) {
        return switch (name) {
            case "F64" -> DType.F64;
            case "F32" -> DType.F32;
            case "F16" -> DType.F16;
            case "BF16" -> DType.BF16;
            case "F8_E4M3" -> DType.F8E4M3;
            case "F8_E5M2" -> DType.F8E5M2;
            case "I64" -> DType.I64;
            case "I32" -> DType.I32;
            case "I16" -> DType.I16;
            case "I8" -> DType.I8;
            case "U64" -> DType.U64;
            case "U32" -> DType.U32;
            case "U16" -> DType.U16;
            case "U8" -> DType.U8;
            case "BOOL" -> DType.BOOL;
            default -> null;
        };
    }

    /** The tensors fill the data without gap or overlap. */
    private static void checkLayout(Map<String, Entry> entries, long dataBytes) {
        List<Map.Entry<String, Entry>> sorted = new ArrayList<>(entries.entrySet());
        sorted.sort(Comparator.comparingLong(
                        (Map.Entry<String, Entry> e) -> e.getValue().begin())
                .thenComparingLong(e -> e.getValue().end()));
        long at = 0;
        for (Map.Entry<String, Entry> entry : sorted) {
            long begin = entry.getValue().begin();
            if (begin != at) {
                throw new ImportException("the tensor \"" + entry.getKey() + "\" begins at byte " + begin
                        + (begin < at ? ", within another tensor that ends at " : ", behind a gap from ") + at);
            }
            at = entry.getValue().end();
        }
        if (at != dataBytes) {
            throw new ImportException("the tensors end at byte " + at + " of " + dataBytes + " bytes of data");
        }
    }
}
