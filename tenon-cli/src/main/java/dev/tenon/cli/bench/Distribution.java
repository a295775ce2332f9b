package dev.tenon.cli.bench;

import dev.tenon.cli.console.Values;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;

/**
 * Numbers at random: {@code 7} always, {@code 1..32} evenly, {@code 5+exp(40)..180} exponentially.
 *
 * @param least the smallest
 * @param mean of what is added to it, exponentially distributed; 0 for evenly
 * @param most the largest
 */
record Distribution(long least, double mean, long most) {
    private static final Pattern FORM = Pattern.compile("(\\d{1,9})(?:(?:\\+exp\\((\\d{1,9})\\))?\\.\\.(\\d{1,9}))?");

    static Distribution parse(String text) {
        Matcher form = FORM.matcher(text);
        if (form.matches()) {
            long least = Long.parseLong(form.group(1));
            long most = form.group(3) == null ? least : Long.parseLong(form.group(3));
            if (most >= least && least > 0) {
                return new Distribution(least, form.group(2) == null ? 0 : Double.parseDouble(form.group(2)), most);
            }
        }
        throw Values.wrong(text, "a number, A..B (evenly) or A+exp(M)..B (exponentially with mean M), A 1 or more");
    }

    long next(SplittableRandom random) {
        if (mean == 0) {
            return random.nextLong(least, most + 1);
        }
        return Math.min(most, least + (long) (-mean * Math.log(1 - random.nextDouble())));
    }

    @Override
    public String toString() {
        return least == most ? "" + least : least + (mean == 0 ? "" : "+exp(" + (long) mean + ")") + ".." + most;
    }

    /** For options. */
    static final class Converter implements ITypeConverter<Distribution> {
        @Override
        public Distribution convert(String value) {
            return parse(value);
        }
    }
}
