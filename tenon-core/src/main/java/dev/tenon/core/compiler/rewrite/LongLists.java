package dev.tenon.core.compiler.rewrite;

import java.util.List;
import java.util.stream.LongStream;

/** Lists for the attributes of operations. */
public final class LongLists {
    private LongLists() {}

    public static List<Long> of(long... values) {
        return LongStream.of(values).boxed().toList();
    }
}
