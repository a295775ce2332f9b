package dev.tenon.cuda.compile;

import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.KernelSource;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The lines that a compiler complains about, numbered, behind its log. */
public final class SourceExcerpt {
    private static final Pattern PLACE = Pattern.compile("([^\\s(:]+)(?:\\((\\d+)\\)|:(\\d+)):");
    private static final int AROUND = 2;
    private static final int MOST_LINES = 60;

    private SourceExcerpt() {}

    static NativeException fault(
            String compiler, KernelSource source, Map<String, String> headers, Architecture architecture, String log) {
        String text = compiler + ": " + source.name() + " does not compile for " + architecture
                + (source.defines().isEmpty() ? "" : " with " + source.defines()) + "\n" + log.strip();
        return new NativeException(text + numbered(source, headers, log));
    }

    /**
     * The lines of a source and its headers that a log names, with those around them, each behind a line break:
     * {@code softmax.cu    12  float x;}; empty when it names none.
     */
    public static String numbered(KernelSource source, Map<String, String> headers, String log) {
        StringBuilder text = new StringBuilder();
        int printed = lines(text, source.name(), source.text(), log, 0);
        for (Map.Entry<String, String> header : headers.entrySet()) {
            printed = lines(text, header.getKey(), header.getValue(), log, printed);
        }
        return text.toString();
    }

    private static int lines(StringBuilder text, String name, String source, String log, int printed) {
        List<String> lines = source.lines().toList();
        TreeSet<Integer> wanted = new TreeSet<>();
        Matcher places = PLACE.matcher(log);
        while (places.find()) {
            if (!places.group(1).equals(name) && !places.group(1).endsWith("/" + name)) {
                continue;
            }
            int at = number(places.group(2) != null ? places.group(2) : places.group(3));
            for (int line = Math.max(1, at - AROUND); line <= Math.min(lines.size(), at + AROUND); line++) {
                wanted.add(line);
            }
        }
        int count = printed;
        for (int line : wanted) {
            if (count++ == MOST_LINES) {
                break;
            }
            text.append("\n%s %5d  %s".formatted(name, line, lines.get(line - 1)));
        }
        return count;
    }

    private static int number(String digits) {
        return digits.length() > 7 ? 0 : Integer.parseInt(digits);
    }
}
