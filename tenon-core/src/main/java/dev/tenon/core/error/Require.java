package dev.tenon.core.error;

import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Checks arguments of public methods; a fault is an {@link InputException} that names the argument. */
public final class Require {
    private Require() {}

    /**
     * Returns the value of an argument that must not be null.
     *
     * @param argument the parameter's name
     * @throws InputException when it is null
     */
    public static <T> T nonNull(@Nullable T value, String argument) {
        if (value == null) {
            throw InputException.of(argument, "argument \"" + argument + "\" is null; expected a value");
        }
        return value;
    }

    /**
     * Returns an array of which no element may be null.
     *
     * @throws InputException when it is null, or an element is
     */
    public static <T> T[] elements(T @Nullable [] values, String argument) {
        T[] all = nonNull(values, argument);
        for (int i = 0; i < all.length; i++) {
            if (all[i] == null) {
                requireElement(null, argument, String.valueOf(i));
            }
        }
        return all;
    }

    /**
     * Returns a collection of which no element may be null.
     *
     * @throws InputException when it is null, or an element is
     */
    public static <C extends Collection<?>> C elements(@Nullable C values, String argument) {
        C all = nonNull(values, argument);
        int i = 0;
        for (Object value : all) {
            if (value == null) {
                requireElement(null, argument, String.valueOf(i));
            }
            i++;
        }
        return all;
    }

    /**
     * Returns a map of which no key and no value may be null.
     *
     * @throws InputException when it is null, or a key or value is
     */
    public static <K, V> Map<K, V> entries(@Nullable Map<K, V> values, String argument) {
        Map<K, V> all = nonNull(values, argument);
        all.forEach((key, value) -> {
            requireElement(key, argument, "null");
            requireElement(value, argument, "\"" + key + "\"");
        });
        return all;
    }

    private static void requireElement(@Nullable Object element, String argument, String at) {
        if (element == null) {
            throw InputException.of(
                    argument, "argument \"" + argument + "\" holds null at " + at + "; expected a value");
        }
    }

    /**
     * Returns an index that must lie in {@code [0, size)}.
     *
     * @throws InputException when it does not
     */
    public static long index(long index, long size, String argument) {
        if (index < 0 || index >= size) {
            throw InputException.of(
                    argument, "argument \"" + argument + "\" is " + index + "; expected 0 to " + (size - 1));
        }
        return index;
    }
}
