package dev.tenon.cli.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Which commands are set up for some arguments. */
class SubcommandsTest {
    @Command(name = "one")
    static final class One {}

    @Command(name = "two")
    static final class Two {}

    @Command(name = "all")
    static final class All {}

    private static final Subcommands COMMANDS =
            new Subcommands(List.of(Map.entry("one", One.class), Map.entry("two", Two.class)));

    private static List<String> added(String... arguments) {
        CommandLine parent = new CommandLine(new All());
        List<String> behind = COMMANDS.addTo(parent, List.of(arguments));
        assertThat(behind).isEqualTo(List.of(arguments).subList(arguments.length - behind.size(), arguments.length));
        return List.copyOf(parent.getSubcommands().keySet());
    }

    @Test
    void namedCommandIsAddedAlone() {
        assertThat(added("two", "one")).containsExactly("two");
        assertThat(added("--stacktrace", "one")).containsExactly("one");
    }

    @Test
    void allAreAddedForHelpAndWrongNames() {
        for (String first : List.of("--help", "-h", "three", "--stacktrace")) {
            assertThat(added(first, "--", "one")).containsExactly("one", "two");
        }
        assertThat(added()).containsExactly("one", "two");
    }
}
