package dev.tenon.cli.console;

import dev.tenon.core.error.InputException;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Sizes as they are written on a command line, with an x between them: {@code 1024x1024}. */
public record Sizes(List<Long> all) {
    private static final String FORM = "\\d{1,18}([x×]\\d{1,18})*";

    public Sizes {
        all = List.copyOf(all);
    }

    static boolean isOne(String text) {
        return text.matches(FORM);
    }

    /** @param text {@link #isOne} */
    public static Sizes of(String text) {
        return new Sizes(Arrays.stream(text.split("[x×]")).map(Long::valueOf).toList());
    }

    public static List<Sizes> of(String... texts) {
        return Arrays.stream(texts).map(Sizes::of).toList();
    }

    /** A size of 1 for each of so many dims; a single 1 where there are no dims. */
    public static Sizes ones(int dims) {
        return new Sizes(Collections.nCopies(Math.max(dims, 1), 1L));
    }

    /**
     * The sizes by the names of a model's dims, in order.
     *
     * @throws InputException when there are more or fewer; one size may stand for no dims
     */
    public Map<String, Long> named(List<String> dims) {
        if (count() != dims.size() && !(dims.isEmpty() && count() == 1)) {
            throw new InputException("shape " + this + " has " + count() + " size(s); the model's dims are " + dims);
        }
        Map<String, Long> sizes = new LinkedHashMap<>();
        for (int i = 0; i < dims.size(); i++) {
            sizes.put(dims.get(i), at(i));
        }
        return sizes;
    }

    public int count() {
        return all.size();
    }

    public long at(int index) {
        return all.get(index);
    }

    @Override
    public String toString() {
        return all.stream().map(Object::toString).collect(Collectors.joining("x"));
    }
}
