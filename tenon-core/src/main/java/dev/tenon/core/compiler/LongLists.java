package dev.tenon.core.compiler;

import java.util.List;
import java.util.stream.LongStream;

/** Lists for the attributes of operations. */
final class LongLists {
    private LongLists() {}

    static List<Long> of(long... values) {
        return LongStream.of(values).boxed().toList();
    }
}
