package dev.tenon.cuda.lower.step;

import java.util.Locale;

/** Times of a model in reasons, which every plan has and few read: without what {@link String#format} costs. */
public final class Micros {
    private static final double LARGE = 1e15;

    private Micros() {}

    /** {@code 12.3}. */
    public static String text(double micros) {
        if (!(Math.abs(micros) < LARGE)) {
            return String.format(Locale.ROOT, "%.1f", micros);
        }
        long tenths = Math.round(Math.abs(micros) * 10);
        return (micros < 0 && tenths > 0 ? "-" : "") + tenths / 10 + "." + tenths % 10;
    }
}
