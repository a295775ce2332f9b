package dev.tenon.cli.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An example of a document: a section whose heading ends in a number of files, the edits that it prints, and the graph
 * whose results it states.
 *
 * @param statedFiles the number in the heading
 */
record WorkedExample(String title, int statedFiles, List<Edit> edits, Optional<Trial> trial) {
    private static final Pattern SECTION = Pattern.compile("(?m)^## (.+) \\((\\d+) files\\)$");
    private static final Pattern EDIT = Pattern.compile(
            "(?ms)^\\*\\*`([^`]+)`\\*\\*,\\s(?:(new)|(after|before) `([^`]+)`):\n\n```\\w+\n(.*?)^```$");
    private static final Pattern GRAPH = Pattern.compile("(?ms)^```graph\n(graph .*?^}\n)(.*?)^```$");

    /** Where the text of a block goes. */
    enum Place {
        NEW_FILE,
        BEFORE,
        AFTER
    }

    /**
     * A block to be written into a file.
     *
     * @param file its path from the root of the repository
     * @param anchor what exactly one line of the file contains, beside which the text goes; empty for a new file
     */
    record Edit(String file, Place place, String anchor, String text) {}

    /**
     * A graph and its numbers.
     *
     * @param values a line each, {@code name = number number ...}
     */
    record Trial(String graph, List<String> values) {}

    /** Returns the examples of a page, in order. */
    static List<WorkedExample> of(String page) {
        List<WorkedExample> examples = new ArrayList<>();
        Matcher section = SECTION.matcher(page);
        while (section.find()) {
            int end = page.indexOf("\n## ", section.end());
            String text = page.substring(section.end(), end < 0 ? page.length() : end);
            examples.add(
                    new WorkedExample(section.group(1), Integer.parseInt(section.group(2)), edits(text), trial(text)));
        }
        return examples;
    }

    private static List<Edit> edits(String text) {
        return EDIT.matcher(text)
                .results()
                .map(found -> found.group(2) != null
                        ? new Edit(found.group(1), Place.NEW_FILE, "", found.group(5))
                        : new Edit(
                                found.group(1),
                                found.group(3).equals("after") ? Place.AFTER : Place.BEFORE,
                                found.group(4),
                                found.group(5)))
                .toList();
    }

    private static Optional<Trial> trial(String text) {
        return GRAPH.matcher(text)
                .results()
                .map(found -> new Trial(found.group(1), found.group(2).lines().toList()))
                .findFirst();
    }

    /** Returns the number of files that the edits touch. */
    long files() {
        return edits.stream().map(Edit::file).distinct().count();
    }
}
