package dev.tenon.core.ir;

import java.util.Locale;

/** Names of operations: {@code LayerNorm} is {@code layer_norm}. */
final class Mnemonics {
    private static final ClassValue<String> NAMES = new ClassValue<>() {
        @Override
        protected String computeValue(Class<?> type) {
            return type.getSimpleName()
                    .replaceAll("(?<=[a-z0-9])(?=[A-Z])", "_")
                    .toLowerCase(Locale.ROOT);
        }
    };

    private Mnemonics() {}

    static String of(Class<?> op) {
        return NAMES.get(op);
    }
}
