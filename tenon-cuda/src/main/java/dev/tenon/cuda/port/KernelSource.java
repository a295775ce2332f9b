package dev.tenon.cuda.port;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a compiler gets.
 *
 * @param name the file's name in messages, {@code softmax/softmax.cu}
 * @param text its content
 * @param headers our own headers that it may include, by name; the platform adds or replaces its device header
 * @param defines macros, in order, {@code NAME=VALUE}
 */
public record KernelSource(String name, String text, Map<String, String> headers, List<String> defines) {
    public KernelSource {
        headers = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(headers));
        defines = List.copyOf(defines);
    }
}
