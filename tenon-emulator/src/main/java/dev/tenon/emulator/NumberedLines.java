package dev.tenon.emulator;

import dev.tenon.cuda.port.KernelSource;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The source lines that a compiler's log names, with those around them. */
final class NumberedLines {
    private static final int AROUND = 2;
    private static final int MOST = 60;

    private NumberedLines() {}

    /** Lines of the form {@code softmax.cu    12  float x;}, each behind a line break; empty when the log names none. */
    static String around(KernelSource source, String log) {
        List<String> lines = source.text().lines().toList();
        TreeSet<Integer> wanted = new TreeSet<>();
        Matcher places =
                Pattern.compile(Pattern.quote(source.name()) + ":(\\d{1,7}):").matcher(log);
        while (places.find()) {
            int at = Integer.parseInt(places.group(1));
            for (int line = Math.max(1, at - AROUND); line <= Math.min(lines.size(), at + AROUND); line++) {
                wanted.add(line);
            }
        }
        StringBuilder text = new StringBuilder();
        wanted.stream()
                .limit(MOST)
                .forEach(line -> text.append("\n%s %5d  %s".formatted(source.name(), line, lines.get(line - 1))));
        return text.toString();
    }
}
