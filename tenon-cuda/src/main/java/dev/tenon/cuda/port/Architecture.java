package dev.tenon.cuda.port;

import dev.tenon.core.error.InputException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A compute capability, with {@code specific} for the form whose code runs on that capability alone and may use its own
 * instructions ({@code sm_90a}).
 */
public record Architecture(int major, int minor, boolean specific) implements Comparable<Architecture> {
    private static final Pattern FORM = Pattern.compile("(?:sm_|compute_)?(\\d{1,2})(\\d)(a?)");

    public Architecture(int major, int minor) {
        this(major, minor, false);
    }

    /** Reads {@code sm_80}, {@code sm_90a}, {@code 120}. @throws InputException for anything else */
    public static Architecture parse(String text) {
        Matcher matcher = FORM.matcher(text.strip());
        if (!matcher.matches()) {
            throw new InputException("\"" + text + "\" is not an architecture; expected the form sm_80 or sm_90a");
        }
        return new Architecture(
                Integer.parseInt(matcher.group(1)),
                Integer.parseInt(matcher.group(2)),
                !matcher.group(3).isEmpty());
    }

    /** {@code 80}, {@code 120}. */
    public int number() {
        return major * 10 + minor;
    }

    /** The form whose code runs on this capability alone. */
    public Architecture withSpecific() {
        return new Architecture(major, minor, true);
    }

    /** {@code sm_90a}: machine code. */
    public String sm() {
        return "sm_" + number() + (specific ? "a" : "");
    }

    /** {@code compute_90a}: PTX. */
    public String compute() {
        return "compute_" + number() + (specific ? "a" : "");
    }

    @Override
    public int compareTo(Architecture other) {
        int byNumber = Integer.compare(number(), other.number());
        return byNumber != 0 ? byNumber : Boolean.compare(specific, other.specific);
    }

    @Override
    public String toString() {
        return sm();
    }
}
