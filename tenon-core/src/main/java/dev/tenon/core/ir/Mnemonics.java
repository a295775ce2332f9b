package dev.tenon.core.ir;

import java.util.Locale;

/** Names of operations: {@code LayerNorm} is {@code layer_norm}. */
final class Mnemonics {
    private static final ClassValue<String> NAMES = new ClassValue<>() {
        @Override
        protected String computeValue(Class<?> type) {
            return words(type.getSimpleName());
        }
    };

    private Mnemonics() {}

    /** {@code transposeA} as {@code transpose_a}. */
    static String words(String name) {
        return name.replaceAll("(?<=[a-z0-9])(?=[A-Z])", "_").toLowerCase(Locale.ROOT);
    }

    static String of(Class<?> op) {
        return NAMES.get(op);
    }
}
