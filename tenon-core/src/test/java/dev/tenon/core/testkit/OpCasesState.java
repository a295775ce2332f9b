package dev.tenon.core.testkit;

import java.util.List;

/** Recurrent layers. */
final class OpCasesState {
    private OpCasesState() {}

    static List<OpCase> all() {
        return List.of();
    }
}
