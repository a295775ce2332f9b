package dev.tenon.core.testkit;

import java.util.List;

/** Quantisation. */
final class OpCasesQuantisation {
    private OpCasesQuantisation() {}

    static List<OpCase> all() {
        return List.of();
    }
}
