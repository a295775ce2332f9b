package dev.tenon.cli.console;

import java.util.Locale;

/** Numbers for eyes. */
public final class Units {
    private Units() {}

    /** Bytes in binary units: {@code 1.5 MiB}. */
    public static String bytes(long bytes) {
        if (bytes < 1024) {
            return bytes + " B";
        }
        int exponent = Math.min(5, (63 - Long.numberOfLeadingZeros(bytes)) / 10);
        return String.format(Locale.ROOT, "%.1f %ciB", bytes / Math.pow(1024, exponent), " KMGTP".charAt(exponent));
    }

    /** {@code 1 device}, {@code 2 devices}. */
    public static String counted(int count, String what) {
        return count + " " + what + (count == 1 ? "" : "s");
    }

    /** Microseconds or milliseconds, three significant figures or more: {@code 845 us}, {@code 12.3 ms}. */
    public static String duration(double micros) {
        return micros < 1000
                ? String.format(Locale.ROOT, "%.1f us", micros)
                : String.format(Locale.ROOT, "%.2f ms", micros / 1000);
    }
}
