package dev.tenon.formats.onnx.schema;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A whole file. */
public record ModelProto(
        long irVersion,
        String producerName,
        String producerVersion,
        String domain,
        long modelVersion,
        String docString,
        @Nullable GraphProto graph,
        List<OpsetProto> opsets,
        Map<String, String> metadata,
        List<FunctionProto> functions) {

    /**
     * The message that {@code in} holds.
     *
     * @throws dev.tenon.core.error.ImportException with the offset of the first fault
     */
    public static ModelProto read(WireReader in) {
        long irVersion = 0;
        String producerName = "";
        String producerVersion = "";
        String domain = "";
        long modelVersion = 0;
        String docString = "";
        GraphProto graph = null;
        List<OpsetProto> opsets = WireReader.list();
        Map<String, String> metadata = new LinkedHashMap<>();
        List<FunctionProto> functions = WireReader.list();
        while (in.next()) {
            switch (in.field()) {
                case 1 -> irVersion = in.int64();
                case 2 -> producerName = in.string();
                case 3 -> producerVersion = in.string();
                case 4 -> domain = in.string();
                case 5 -> modelVersion = in.int64();
                case 6 -> docString = in.string();
                case 7 -> graph = GraphProto.read(in.message());
                case 8 -> in.addTo(opsets, OpsetProto::read);
                case 14 -> EntryProto.read(in.message()).putInto(metadata);
                case 25 -> in.addTo(functions, FunctionProto::read);
                // 20 is the training information: no part of inference
                default -> in.skip();
            }
        }
        return new ModelProto(
                irVersion,
                producerName,
                producerVersion,
                domain,
                modelVersion,
                docString,
                graph,
                List.copyOf(opsets),
                java.util.Collections.unmodifiableMap(metadata),
                List.copyOf(functions));
    }
}
