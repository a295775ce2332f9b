package dev.tenon.formats.onnx.schema;

import java.util.Map;

/** A key and its value: StringStringEntryProto. */
record EntryProto(String key, String value) {
    static EntryProto read(WireReader in) {
        String key = "";
        String value = "";
        while (in.next()) {
            switch (in.field()) {
                case 1 -> key = in.string();
                case 2 -> value = in.string();
                default -> in.skip();
            }
        }
        return new EntryProto(key, value);
    }

    void putInto(Map<String, String> map) {
        map.put(key, value);
    }
}
