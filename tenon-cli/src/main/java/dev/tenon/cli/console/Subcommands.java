package dev.tenon.cli.console;

import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/**
 * The commands below a command, in the order of its help. What the arguments name alone is set up: the others' options
 * cost a start of the JVM more time than many a command takes.
 *
 * @param all the class of each by name
 */
public record Subcommands(List<Map.Entry<String, Class<?>>> all) {
    public Subcommands {
        all = List.copyOf(all);
    }

    /** The only option that may stand before a name and still sets up one command alone. */
    private static final String BEFORE = "--stacktrace";

    /**
     * Adds the command that the arguments begin with, or all where they begin with none: for help, and for what is said
     * about a wrong name. To be called before the parent is set up further.
     *
     * @param arguments behind the parent's name
     * @return the arguments behind the added command's name; empty where all were added
     */
    public List<String> addTo(CommandLine parent, List<String> arguments) {
        int at = !arguments.isEmpty() && arguments.getFirst().equals(BEFORE) ? 1 : 0;
        for (Map.Entry<String, Class<?>> each : all) {
            if (at < arguments.size() && each.getKey().equals(arguments.get(at))) {
                parent.addSubcommand(each.getKey(), each.getValue());
                return arguments.subList(at + 1, arguments.size());
            }
        }
        all.forEach(each -> parent.addSubcommand(each.getKey(), each.getValue()));
        return List.of();
    }
}
