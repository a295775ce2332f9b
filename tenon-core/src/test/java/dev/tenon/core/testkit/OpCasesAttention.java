package dev.tenon.core.testkit;

import java.util.List;

/** Attention and rotary embedding. */
final class OpCasesAttention {
    private OpCasesAttention() {}

    static List<OpCase> all() {
        return List.of();
    }
}
