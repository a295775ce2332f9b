package dev.tenon.cli.model;

import dev.tenon.cli.console.Values;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import java.io.PrintWriter;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** Which passes run, and after which the graph is printed. */
public final class PassOptions {
    private static final String AFTER = "after:";
    private static final String ALL = "all";

    @Option(
            names = "--dump-ir",
            paramLabel = "after:PASS",
            converter = After.class,
            description = "Print the graph after a pass, or after:all.")
    @Nullable
    String dumpIr;

    @Option(
            names = "--skip-pass",
            paramLabel = "PASS",
            converter = Skipped.class,
            description = "Leave an optimisation out, such as fuse-elementwise; may be given several times.")
    Set<String> skip = new LinkedHashSet<>();

    /** {@code after:PASS}. */
    static final class After implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            if (value.equals(AFTER + ALL)
                    || value.startsWith(AFTER) && Compiler.passNames().contains(value.substring(AFTER.length()))) {
                return value;
            }
            throw Values.wrong(
                    value, "after:PASS, PASS being all or one of " + String.join(", ", Compiler.passNames()));
        }
    }

    /** The name of an optimisation. */
    static final class Skipped implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            if (Compiler.optimisationNames().contains(value)) {
                return value;
            }
            throw Values.wrong(value, "one of " + String.join(", ", Compiler.optimisationNames()));
        }
    }

    /** The compiler's options; graphs are printed to {@code err}. */
    public CompilerOptions compiler(PrintWriter err) {
        CompilerOptions options = CompilerOptions.defaults().withSkip(skip);
        String after = dumpIr;
        return after == null
                ? options
                : options.withDump(
                        Set.of(after.substring(AFTER.length())),
                        (name, text) -> err.println("// after " + name + "\n" + text));
    }
}
