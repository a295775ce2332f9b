package dev.tenon.cli.machine;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A finding of {@code doctor}.
 *
 * @param what was looked at
 * @param fine whether it is as it should be
 * @param found in words
 * @param fix what helps; empty where nothing is wrong or the words say it
 */
record Check(String what, boolean fine, String found, String fix) {
    Check(String what, boolean fine, String found) {
        this(what, fine, found, "");
    }

    Map<String, Object> object() {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("check", what);
        object.put("ok", fine);
        object.put("found", found);
        object.put("fix", fix.isEmpty() ? null : fix);
        return object;
    }
}
