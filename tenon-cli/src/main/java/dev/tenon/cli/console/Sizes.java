package dev.tenon.cli.console;

import java.util.Arrays;
import java.util.List;
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
