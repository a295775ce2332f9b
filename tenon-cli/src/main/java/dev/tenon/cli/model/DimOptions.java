package dev.tenon.cli.model;

import dev.tenon.cli.console.Values;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** The sizes of generated inputs, for commands that take no others. */
public final class DimOptions {
    @Option(
            names = "--dim",
            paramLabel = "NAME=N",
            converter = {Values.Name.class, Values.Size.class},
            description = "The size of a named dim; 1 where not given.")
    public Map<String, Long> sizes = new LinkedHashMap<>();
}
