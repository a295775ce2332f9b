package dev.tenon.cuda.compile;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a kernel takes, out of the log of {@code ptxas --verbose}.
 *
 * @param entry the function
 * @param registers a thread
 * @param stackBytes a thread: arrays that did not fit into registers, and spills
 * @param spillStoreBytes a thread
 * @param spillLoadBytes a thread
 * @param sharedBytes a block, static
 */
public record ResourceReport(
        String entry, int registers, int stackBytes, int spillStoreBytes, int spillLoadBytes, int sharedBytes) {
    private static final Pattern ENTRY = Pattern.compile("Compiling entry function '([^']+)'");
    private static final Pattern SPILLS =
            Pattern.compile("(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
    private static final Pattern REGISTERS = Pattern.compile("Used (\\d+) registers");
    private static final Pattern SHARED = Pattern.compile("(\\d+) bytes smem");

    /** One for each entry that the log speaks of, in its order; empty for a log of something else. */
    public static List<ResourceReport> parse(String log) {
        List<ResourceReport> reports = new ArrayList<>();
        String entry = "";
        int[] spills = new int[3];
        for (String line : log.lines().toList()) {
            Matcher start = ENTRY.matcher(line);
            if (start.find()) {
                entry = start.group(1);
                spills = new int[3];
            }
            Matcher spilled = SPILLS.matcher(line);
            if (spilled.find()) {
                spills = new int[] {number(spilled, 1), number(spilled, 2), number(spilled, 3)};
            }
            Matcher used = REGISTERS.matcher(line);
            if (used.find() && !entry.isEmpty()) {
                Matcher shared = SHARED.matcher(line);
                reports.add(new ResourceReport(
                        entry,
                        number(used, 1),
                        spills[0],
                        spills[1],
                        spills[2],
                        shared.find() ? number(shared, 1) : 0));
                entry = ""; // later lines are about device functions
            }
        }
        return List.copyOf(reports);
    }

    private static int number(Matcher matcher, int group) {
        return Integer.parseInt(matcher.group(group));
    }
}
