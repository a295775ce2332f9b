package dev.tenon.formats.onnx.schema;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A tensor's type and where its elements lie: as {@code raw} bytes, as packed numbers in one of the typed fields, or in
 * another file.
 *
 * @param dataType the code of the element type
 * @param float32 float_data, little-endian floats
 * @param float64 double_data, little-endian doubles
 * @param varints int32_data, int64_data and uint64_data
 * @param strings how many elements string_data has
 * @param external the entries of external_data, where the data is in another file; null where it is here
 */
public record TensorProto(
        String name,
        int dataType,
        List<Long> dims,
        @Nullable MemorySegment raw,
        List<WireReader> float32,
        List<WireReader> float64,
        List<WireReader> varints,
        int strings,
        boolean segmented,
        @Nullable Map<String, String> external) {
    private static final int MAX_UNPACKED = 1 << 20;

    /**
     * The message that {@code in} holds.
     *
     * @throws dev.tenon.core.error.ImportException with the offset of the first fault
     */
    public static TensorProto read(WireReader in) {
        String name = "";
        int dataType = 0;
        int location = 0;
        int strings = 0;
        boolean segmented = false;
        List<Long> dims = WireReader.list();
        MemorySegment raw = null;
        List<WireReader> float32 = WireReader.list();
        List<WireReader> float64 = WireReader.list();
        List<WireReader> varints = WireReader.list();
        Map<String, String> external = new LinkedHashMap<>();
        while (in.next()) {
            switch (in.field()) {
                case 1 -> in.int64s(dims);
                case 2 -> dataType = in.int32();
                case 3 -> {
                    in.skip();
                    segmented = true;
                }
                case 4 -> addNumbers(float32, in);
                case 5, 7, 11 -> addNumbers(varints, in);
                case 6 -> {
                    in.skip();
                    strings++;
                }
                case 8 -> name = in.string();
                case 9 -> raw = in.bytes();
                case 10 -> addNumbers(float64, in);
                case 13 -> EntryProto.read(in.message()).putInto(external);
                case 14 -> location = in.int32();
                default -> in.skip();
            }
        }
        if (dataType == 0) {
            throw in.error("tensor \"" + name + "\" has no element type");
        }
        return new TensorProto(
                name,
                dataType,
                List.copyOf(dims),
                raw,
                List.copyOf(float32),
                List.copyOf(float64),
                List.copyOf(varints),
                strings,
                segmented,
                location == 1 ? java.util.Collections.unmodifiableMap(external) : null);
    }

    private static void addNumbers(List<WireReader> list, WireReader in) {
        // one object a number: writers pack them, and a file that does not must not take 30 times its size on the heap
        if (list.size() >= MAX_UNPACKED) {
            throw in.error("more than " + MAX_UNPACKED + " numbers that are not packed");
        }
        list.add(in.numbers());
    }
}
