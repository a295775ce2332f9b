package dev.tenon.cli.vision;

import dev.tenon.core.error.InputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names of classes, by number: from a file, or from the metadata that exporters write into models. */
final class Labels {
    /** Where exporters put them. */
    private static final List<String> KEYS = List.of("labels", "classes", "class_names", "names", "id2label");
    /** {@code 0: 'name'}, as Python and JSON write it. */
    private static final Pattern PAIR =
            Pattern.compile("[\"']?(\\d{1,6})[\"']?\\s*:\\s*([\"'])((?:\\\\.|(?!\\2).)*)\\2");

    private static final Pattern QUOTED = Pattern.compile("([\"'])((?:\\\\.|(?!\\1).)*)\\1");

    private final List<String> names;

    private Labels(List<String> names) {
        this.names = names;
    }

    static Labels none() {
        return new Labels(List.of());
    }

    /** A name a line, in UTF-8; or one list or object as in metadata. */
    static Labels read(Path file) throws IOException {
        Labels labels = parse(Files.readString(file));
        if (labels.names.isEmpty()) {
            throw new InputException("the file " + file + " has no labels; expected one per line");
        }
        return labels;
    }

    /** The labels among a model's metadata; none where there are none. */
    static Labels of(Map<String, String> metadata) {
        for (String key : KEYS) {
            String text = metadata.get(key);
            if (text != null) {
                Labels found = parse(text);
                if (!found.names.isEmpty()) {
                    return found;
                }
            }
        }
        return none();
    }

    static Labels parse(String text) {
        String stripped = text.strip();
        List<String> names = new ArrayList<>();
        if (stripped.startsWith("{")) {
            Matcher pairs = PAIR.matcher(stripped);
            while (pairs.find()) {
                int index = Integer.parseInt(pairs.group(1));
                while (names.size() <= index) {
                    names.add("");
                }
                names.set(index, unescaped(pairs.group(3)));
            }
        } else if (stripped.startsWith("[")) {
            Matcher quoted = QUOTED.matcher(stripped);
            while (quoted.find()) {
                names.add(unescaped(quoted.group(2)));
            }
        } else if (!stripped.isEmpty()) {
            String between = stripped.indexOf('\n') < 0 && stripped.indexOf(',') >= 0 ? "," : "\\R";
            for (String name : stripped.split(between, -1)) {
                names.add(name.strip());
            }
        }
        return new Labels(names);
    }

    private static String unescaped(String quoted) {
        return quoted.replaceAll("\\\\(.)", "$1");
    }

    boolean isEmpty() {
        return names.isEmpty();
    }

    int size() {
        return names.size();
    }

    /** The name of a class of so many; its number where it has none. A model may count a background first. */
    String name(int index, int classes) {
        int at = names.size() == classes - 1 ? index - 1 : index;
        if (at < 0) {
            return "background";
        }
        String name = at < names.size() ? names.get(at) : "";
        return name.isEmpty() ? "class " + index : name;
    }
}
