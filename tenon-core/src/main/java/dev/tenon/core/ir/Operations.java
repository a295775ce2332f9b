package dev.tenon.core.ir;

import dev.tenon.core.lazy.Lazy;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds the record of an operation by its mnemonic. Sealed kinds list theirs; a composite is the record of that name in
 * a package that holds some of those. Thread-safe.
 */
final class Operations {
    private static final Lazy<Operations> ALL = new Lazy<>() {
        @Override
        protected Operations make() {
            return new Operations();
        }
    };

    private final Map<String, Class<?>> listed = new HashMap<>();
    private final Set<String> packages = new TreeSet<>();

    private Operations() {
        Op.records().forEach(op -> {
            listed.put(Mnemonics.of(op), op);
            packages.add(op.getPackageName());
        });
    }

    /** Returns the record of that name, or null. */
    static @Nullable Class<?> named(String mnemonic) {
        Operations all = ALL.get();
        Class<?> listed = all.listed.get(mnemonic);
        return listed != null ? listed : all.composite(mnemonic);
    }

    private @Nullable Class<?> composite(String mnemonic) {
        if (!mnemonic.matches("[a-z][a-z0-9_]*")) {
            return null;
        }
        String name = Arrays.stream(mnemonic.split("_"))
                .filter(word -> !word.isEmpty())
                .map(word -> Character.toUpperCase(word.charAt(0)) + word.substring(1))
                .collect(Collectors.joining());
        for (String family : packages) {
            try {
                Class<?> found = Class.forName(family + "." + name, false, Operations.class.getClassLoader());
                if (found.isRecord() && Composite.class.isAssignableFrom(found)) {
                    return Mnemonics.of(found).equals(mnemonic) ? found : null;
                }
            } catch (ClassNotFoundException | NoClassDefFoundError absent) {
                // of another family, or of none; the error is that of a file system which does not tell cases apart
            }
        }
        return null;
    }
}
